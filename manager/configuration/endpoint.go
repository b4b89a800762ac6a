package configuration

import (
	"fmt"
	"strings"

	"simplex/load"
	"simplex/load/document"
	"simplex/manager/protocol"
	"simplex/manager/record"
)

// placeholderHost never resolves; a worker refuses endpoints there.
const placeholderHost = "unconfigured.invalid"

// The connection endpoints of a configuration, with the last part of their placeholders
// and the member of a refresh that overrides them.
var endpoints = [...]struct {
	path        []string
	placeholder string
	create      bool // an override makes a missing section
	member      string
	override    func(protocol.Refresh) *string
}{
	{[]string{"client", "endpoint"}, "events", true, "client_endpoint", func(r protocol.Refresh) *string { return r.ClientEndpoint }},
	{[]string{"security", "confirmation", "endpoint"}, "confirmation", false, "confirmation_endpoint", func(r protocol.Refresh) *string { return r.ConfirmationEndpoint }},
	{[]string{"hub_remote_call", "endpoint"}, "tools", false, "tools_endpoint", func(r protocol.Refresh) *string { return r.ToolsEndpoint }},
}

// CheckRefresh checks the URLs as a worker checks its endpoints. Errors are
// invalid_request.
func CheckRefresh(r *protocol.Refresh) error {
	for _, e := range endpoints {
		url := e.override(*r)
		if url == nil {
			continue
		}
		if _, err := load.ParseEndpoint(*url); err != nil {
			return protocol.NewError(protocol.InvalidRequest, "refresh."+e.member+": "+err.Error())
		}
	}
	return nil
}

// CheckEndpoints refuses the placeholders that a clean fork begins with; the error says
// what to do.
func CheckEndpoints(doc *record.Document) error {
	tree, err := document.ParseJSON("effective configuration", doc.Effective)
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		n := tree.Root.At(e.path...)
		if n == nil || n.Kind != document.KindString {
			continue
		}
		ep, err := load.ParseEndpoint(n.Text)
		if err == nil && strings.EqualFold(strings.TrimSuffix(ep.Host, "."), placeholderHost) {
			return fmt.Errorf("%s is a placeholder at %s; give the fork its endpoints with a prepare that has refresh",
				strings.Join(e.path, "."), placeholderHost)
		}
	}
	return nil
}
