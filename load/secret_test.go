package load

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestExpand is §2.3 and BR-058.
func TestExpand(t *testing.T) {
	t.Parallel()
	env := environment(map[string]string{"API_KEY": "k1", "EMPTY": "", "NESTED": "${API_KEY}$$", "_9": "u"})
	for in, want := range map[string]string{
		"${API_KEY}": "k1", "uh$Q$x": "uh$Q$x", "^a$": "^a$", "$$5": "$5", "$$": "$", "$": "$", "": "", "plain": "plain",
		"a${API_KEY}b${API_KEY}": "ak1bk1", "$${API_KEY}": "${API_KEY}", "$$${API_KEY}": "$k1", "${NESTED}": "${API_KEY}$$", "${_9}": "u", "$x{y}": "$x{y}",
	} {
		if got, err := Expand(in, env.Lookup); err != nil || got != want {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for in, words := range map[string]string{
		"${NOT_SET}": "NOT_SET", "${EMPTY}": "EMPTY", "${API_KEY": "without }", "${": "without }", "${}": "bad variable", "${A-B}": "bad variable", "${A B}": "bad variable", "${é}": "bad variable", "x${ API_KEY}": "bad variable",
	} {
		if _, err := Expand(in, env.Lookup); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: got %v", in, err)
		}
	}
}

// TestExpandProperties: escaping is always possible, and a value is never looked at
// again, whatever it holds.
func TestExpandProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("$${}AZ_a9 -é"))).Draw(t, "text")
		value := rapid.StringOf(rapid.SampledFrom([]rune("$${}X"))).Filter(func(s string) bool { return s != "" }).Draw(t, "value")
		env := environment(map[string]string{"X": value})
		got, err := Expand(strings.ReplaceAll(text, "$", "$$")+"${X}", env.Lookup)
		if err != nil || got != text+value {
			t.Fatalf("got %q, %v", got, err)
		}
		if got, err := Expand(text, env.Lookup); err == nil && !strings.Contains(text, "$") && got != text {
			t.Fatalf("text without a dollar changed to %q", got)
		}
	})
}

// TestSecretsStaySecret shows that no error and no printed Config holds a credential.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	const secret = "hush-hush"
	doc := `driver_model: main
providers:
  main:
    model: x
    endpoint:
      auth: { api_key: "${KEY}" }
      extra_headers: { X-Key: "${KEY}", X-Plain: "literal-` + secret + `" }
client: { endpoint: "ws://h/?token=` + secret + `" }
`
	env := environment(map[string]string{"KEY": secret})
	cfg, err := fromText(doc, Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Driver.Endpoint.ExtraHeaders["X-Key"] != secret || !strings.Contains(cfg.Driver.Factory().String(), `"X-Key":"`+secret+`"`) {
		t.Errorf("not expanded: %v", cfg.Driver.Endpoint.ExtraHeaders)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if strings.Contains(fmt.Sprintf(verb, cfg.Driver), secret) {
			t.Errorf("%s prints the key", verb)
		}
	}
	for _, change := range [][2]string{
		{"${KEY}", "${KEY}${NOPE}"},
		{"ws://h/?token=", "http://h/?token="},
		{`"ws://h/?token=` + secret + `"`, "[" + secret + "]"},
		{"model: x", "model: 5"},
		{`"${KEY}"`, "*" + secret},
		{`"${KEY}"`, "!" + secret},
		{`"${KEY}"`, "&" + secret},
		{`"${KEY}"`, "@" + secret},
		{`"${KEY}"`, "%" + secret},
		{"{ api_key: \"${KEY}\" }", "{ api_key: [" + secret + "] }"},
		{"{ api_key: \"${KEY}\" }", "{ api_key: \"" + secret + "\\n\" }"},
	} {
		_, err := fromText(strings.Replace(doc, change[0], change[1], 1), Options{Env: env})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
