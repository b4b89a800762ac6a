package manager

import "strconv"

// marshal is the counterpart of unmarshal, without the closing brace.
func (r *record) marshal() ([]byte, error) {
	var b builder
	b.integer("version", uint64(r.Version))
	b.text("allocation_id", r.AllocationID)
	b.text("directory", r.Directory)
	b.text("status", string(r.Status))
	if r.Nonce != "" {
		b.text("nonce", r.Nonce)
	}
	if r.Revision != 0 {
		b.integer("revision", r.Revision)
	}
	if r.Root != nil {
		var in builder
		in.integer("dev", r.Root.Dev)
		in.integer("ino", r.Root.Ino)
		in.raw("born", strconv.AppendInt(nil, r.Root.Born, 10))
		b.object("root", in)
	}
	if r.Source != nil {
		b.text("source", *r.Source)
	}
	if r.Overrides != nil {
		b.refresh("overrides", *r.Overrides)
	}
	if r.Startup != nil {
		b.startup(r.Startup)
	}
	if r.ForkOrigin != nil {
		b.origin(r.ForkOrigin)
	}
	if r.ForkRefresh != nil {
		b.refresh("fork_refresh", *r.ForkRefresh)
	}
	if r.Derived != nil {
		var in builder
		in.raw("effective_configuration", r.Derived.Effective)
		in.text("backend", r.Derived.Backend)
		in.text("state", r.Derived.State)
		in.text("memory", r.Derived.Memory)
		b.object("derived", in)
	}
	if len(r.Unknown) > len("{}") {
		b.buf = append(append(b.buf, ','), r.Unknown[1:len(r.Unknown)-1]...)
	}
	return b.buf, b.err
}
