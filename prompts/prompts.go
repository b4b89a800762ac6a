package prompts

import "embed"

//go:embed *.yaml operations/*.yaml
var files embed.FS

// Shipped gives the bytes of one shipped file, named relative to this directory
// (`coding_agent.yaml`, `operations/compact.yaml`), or nil where there is none.
func Shipped(name string) []byte {
	raw, err := files.ReadFile(name)
	if err != nil {
		return nil
	}
	return raw
}
