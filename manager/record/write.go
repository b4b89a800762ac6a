package record

import (
	"strconv"

	"simplex/manager/object"
	"simplex/manager/protocol"
)

// marshal is the counterpart of unmarshal, without the closing brace.
func (r *Record) marshal() ([]byte, error) {
	var b object.Builder
	b.Integer("version", uint64(r.Version))
	b.Text("allocation_id", r.AllocationID)
	b.Text("directory", r.Directory)
	b.Text("status", string(r.Status))
	if r.Nonce != "" {
		b.Text("nonce", r.Nonce)
	}
	if r.Revision != 0 {
		b.Integer("revision", r.Revision)
	}
	if r.Root != nil {
		var in object.Builder
		in.Integer("dev", r.Root.Dev)
		in.Integer("ino", r.Root.Ino)
		in.Raw("born", strconv.AppendInt(nil, r.Root.Born, 10))
		b.Object("root", in)
	}
	if r.Source != nil {
		b.Text("source", *r.Source)
	}
	if r.Overrides != nil {
		AddRefresh(&b, "overrides", *r.Overrides)
	}
	if r.Startup != nil {
		AddStartup(&b, r.Startup)
	}
	if r.ForkOrigin != nil {
		AddOrigin(&b, r.ForkOrigin)
	}
	if r.ForkRefresh != nil {
		AddRefresh(&b, "fork_refresh", *r.ForkRefresh)
	}
	if r.Derived != nil {
		var in object.Builder
		in.Raw("effective_configuration", r.Derived.Effective)
		in.Text("backend", r.Derived.Backend)
		in.Text("state", r.Derived.State)
		in.Text("memory", r.Derived.Memory)
		b.Object("derived", in)
	}
	raw, err := b.Open()
	if len(r.Unknown) > len("{}") {
		raw = append(append(raw, ','), r.Unknown[1:len(r.Unknown)-1]...)
	}
	return raw, err
}

// AddRefresh adds a set of endpoints.
func AddRefresh(b *object.Builder, name string, r protocol.Refresh) {
	var in object.Builder
	for _, o := range []struct {
		name string
		url  *string
	}{
		{"client_endpoint", r.ClientEndpoint}, {"confirmation_endpoint", r.ConfirmationEndpoint}, {"tools_endpoint", r.ToolsEndpoint},
	} {
		if o.url != nil {
			in.Text(o.name, *o.url)
		}
	}
	b.Object(name, in)
}

// AddOrigin adds where a fork came from, null for none.
func AddOrigin(b *object.Builder, s *protocol.Source) {
	if s == nil {
		b.Raw("fork_origin", []byte("null"))
		return
	}
	var in object.Builder
	in.Text("allocation_id", s.AllocationID)
	in.Text("directory", s.Directory)
	in.Text("lifecycle_id", s.LifecycleID)
	in.Integer("revision", s.Revision)
	b.Object("fork_origin", in)
}

// AddStartup adds the capture, null before the first one.
func AddStartup(b *object.Builder, s *Startup) {
	if s == nil {
		b.Raw("startup", []byte("null"))
		return
	}
	var in object.Builder
	in.Text("lifecycle_id", s.LifecycleID)
	in.Integer("revision", s.Revision)
	in.Raw("effective_configuration", s.Effective)
	b.Object("startup", in)
}
