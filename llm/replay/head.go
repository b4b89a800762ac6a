package replay

import (
	"fmt"

	"simplex/state"
)

// AppendHead writes the brace, the settings in key order and, where there are any, the
// tools, each by tool; what follows needs no comma.
func AppendHead(dst []byte, settings state.Object, tools []state.Tool, tool func([]byte, state.Tool) []byte) ([]byte, error) {
	dst = append(dst, '{')
	for _, m := range settings.Members() {
		dst = AppendText(dst, m.Name)
		dst = append(dst, ':')
		dst = append(append(dst, m.Value.String()...), ',')
	}
	if len(tools) == 0 {
		return dst, nil
	}
	dst = append(dst, `"tools":[`...)
	for i, t := range tools {
		if t.Name == "" {
			return nil, fmt.Errorf("tool %d has no name", i)
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = tool(dst, t)
	}
	return append(dst, `],`...), nil
}

// AppendFunction writes the members name, description (if there is one) and parameters.
func AppendFunction(dst []byte, t state.Tool) []byte {
	dst = AppendText(append(dst, `"name":`...), t.Name)
	if t.Description != "" {
		dst = AppendText(append(dst, `,"description":`...), t.Description)
	}
	schema := `{}`
	if t.ArgumentSchema.IsSet() {
		schema = t.ArgumentSchema.String()
	}
	return append(append(dst, `,"parameters":`...), schema...)
}
