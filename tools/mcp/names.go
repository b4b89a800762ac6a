package mcp

import (
	"errors"
	"fmt"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/mcp/client"
)

// Bounds on what a server may put before the model.
const (
	maxTools       = 256
	maxName        = 64
	maxDescription = 16 << 10  // bytes
	maxSchema      = 256 << 10 // bytes of JSON
)

// ErrShadows: a tool of the server has the name of a built-in one.
var ErrShadows = errors.New("a plugin may not take the name of a built-in tool")

// builtin are the names of all intrinsic tools, whether loaded or not.
func builtin(name string) bool {
	switch name {
	case "spawn_process", "run_command", "poll_process", "read_process", "send_process",
		"read_text", "str_replace_edit", "modality_assist",
		"plan", "subagent_fork", "subagent_send", "subagent_receive":
		return true
	}
	return false
}

// validName is what providers take as the name of a function.
func validName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		b := name[i]
		if !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-') {
			return false
		}
	}
	return true
}

// declare makes our declaration of a server's tool.
func declare(prefix string, t client.Tool) (tools.Declaration, error) {
	name := prefix + t.Name
	if !validName(name) {
		return tools.Declaration{}, fmt.Errorf("the name must have 1 to %d of A-Z a-z 0-9 _ -", maxName)
	}
	value, err := tolerant(t.InputSchema)
	if err != nil {
		return tools.Declaration{}, fmt.Errorf("its argument schema: %w", err)
	}
	schema, err := value.Object()
	if err != nil {
		return tools.Declaration{}, fmt.Errorf("its argument schema: %w", err)
	}
	if kind, _ := schema.Get("type"); kind != state.StringValue("object") {
		return tools.Declaration{}, errors.New("its argument schema is not that of an object")
	}
	description := t.Description
	if description == "" {
		description = t.Title
	}
	if description == "" {
		description = t.Name
	}
	if len(schema.String()) > maxSchema || len(description) > maxDescription {
		return tools.Declaration{}, fmt.Errorf("its schema has more than %d bytes, or its description more than %d", maxSchema, maxDescription)
	}
	return tools.Declaration{
		Name: name, Description: description, Schema: schema, Config: state.EmptyObject(), File: "MCP server", Open: takesMore(schema),
	}, nil
}

// takesMore tells whether a schema lets arguments pass that it does not name.
func takesMore(schema state.Object) bool {
	additional, ok := schema.Get("additionalProperties")
	return !ok || additional.String() != "false"
}
