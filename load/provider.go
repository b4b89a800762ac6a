package load

import (
	"fmt"
	"strings"

	"simplex/load/document"
	"simplex/state"
)

// String names the provider without its credentials.
func (p Provider) String() string {
	return fmt.Sprintf("provider %s (plugin %s, model %s)", p.Name, p.Plugin, p.Model)
}

// GoString is String, so that no verb of fmt prints a credential.
func (p Provider) GoString() string { return p.String() }

// providers reads the entries that the two selectors name.
func (b *builder) providers(root section, cfg *Config) {
	table := root.sub("providers")
	cfg.Driver = *b.selectedProvider(root, table, "driver_model")
	if root.has("modality_assist_model") {
		cfg.Assist = b.selectedProvider(root, table, "modality_assist_model")
	}
}

func (b *builder) selectedProvider(root, table section, selector string) *Provider {
	name := root.text(selector)
	s := table.entry(name, table.node.Get(name))
	p := &Provider{Path: s.path, Name: name, Plugin: name, Model: s.text("model"), Settings: object(s, "config"), endpoint: object(s, "endpoint")}
	if s.has("plugin") {
		p.Plugin = s.text("plugin")
	}
	settings := s.sub("config")
	for _, reserved := range []string{"model", "provider", "endpoint", "retry"} {
		if settings.has(reserved) {
			b.Fail(settings.line(reserved), settings.path+"/"+reserved, "does not belong into config; it has a place beside it")
		}
	}
	retry := s.sub("retry")
	b.backoff(retry)
	p.Retry = Retry{
		MaxAttempts:    retry.int("max_attempts"),
		InitialBackoff: retry.ms("initial_backoff_ms"),
		MaxBackoff:     retry.ms("max_backoff_ms"),
		IdleTimeout:    retry.ms("idle_timeout_ms"),
	}
	p.Endpoint = b.endpoint(s.sub("endpoint"))
	return p
}

func (b *builder) endpoint(s section) ProviderEndpoint {
	auth := s.sub("auth")
	ep := ProviderEndpoint{
		BaseURL:      s.text("base_url"),
		RequestPath:  s.text("request_path"),
		UserAgent:    s.text("user_agent"),
		Extras:       optionalObject(s, "extras"),
		Scheme:       auth.text("scheme"),
		APIKey:       b.expanded(auth, "api_key", auth.text("api_key")),
		HeaderName:   auth.text("header_name"),
		AuthExtras:   optionalObject(auth, "extras"),
		ExtraHeaders: map[string]string{},
	}
	headers := s.sub("extra_headers")
	if headers.node == nil {
		return ep
	}
	for _, m := range headers.node.Members {
		ep.ExtraHeaders[m.Name] = b.expanded(headers, m.Name, m.Value.Text)
	}
	return ep
}

// expanded expands one credential. A control character can never be sent in a header;
// told here, the mistake is found before the first request.
func (b *builder) expanded(s section, name, text string) string {
	value, err := Expand(text, b.opt.Env.Lookup)
	if err != nil {
		b.Fail(s.line(name), document.Join(s.path, name), "%v", err)
		return ""
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		b.Fail(s.line(name), document.Join(s.path, name), "has a line break or another control character after expansion")
	}
	return value
}

func object(s section, name string) state.Object {
	if !s.has(name) {
		return state.EmptyObject()
	}
	return optionalObject(s, name)
}

// optionalObject is a mapping kept as it is; unset where omitted.
func optionalObject(s section, name string) state.Object {
	o, _ := s.node.Get(name).JSON().Object()
	return o
}

// Factory is the provider's factory configuration (§2.5): the settings, `model`,
// `endpoint` with its credentials expanded, and `retry` with every value filled in.
// It is secret.
func (p Provider) Factory() state.Object {
	retry, _ := state.ObjectOf(map[string]int64{
		"max_attempts":       int64(p.Retry.MaxAttempts),
		"initial_backoff_ms": p.Retry.InitialBackoff.Milliseconds(),
		"max_backoff_ms":     p.Retry.MaxBackoff.Milliseconds(),
		"idle_timeout_ms":    p.Retry.IdleTimeout.Milliseconds(),
	})
	endpoint := p.endpoint
	if auth, ok := endpoint.Get("auth"); ok {
		if o, err := auth.Object(); err == nil && hasMember(o, "api_key") {
			endpoint = endpoint.With("auth", o.With("api_key", state.StringValue(p.Endpoint.APIKey)).Value)
		}
	}
	if hasMember(endpoint, "extra_headers") {
		headers, _ := state.ObjectOf(p.Endpoint.ExtraHeaders)
		endpoint = endpoint.With("extra_headers", headers.Value)
	}
	return p.Settings.With("model", state.StringValue(p.Model)).With("endpoint", endpoint.Value).With("retry", retry.Value)
}

func hasMember(o state.Object, name string) bool {
	_, ok := o.Get(name)
	return ok
}
