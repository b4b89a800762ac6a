package configuration

import (
	"errors"
	"strings"
	"testing"

	"simplex/load/document"
	"simplex/manager/protocol"
)

// secret is planted in configurations: no error may hold it.
const secret = "sk-never-to-be-seen-4711"

// codeOf is the code of an error of the contract, "" for another.
func codeOf(err error) protocol.Code {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code
	}
	return ""
}

const fullSource = `# kept
driver_model: m
providers: {m: {model: x, config: {big: 1.10, n: 9007199254740993}}}
client: {endpoint: "ws://c/", payload_capacity: 7}
security: {confirmation: {endpoint: "ws://q/", timeout_ms: 9}}
hub_remote_call: {endpoint: "ws://t/"}
persistence: {directory: ./elsewhere, state: st, memory: mem, format: sqlite, restore: never}
unknown: {kept: [1, two]}
`

func TestEffectiveConfiguration(t *testing.T) {
	t.Parallel()
	all := protocol.Refresh{ClientEndpoint: new("ws://C/"), ConfirmationEndpoint: new("ws://Q/"), ToolsEndpoint: new("ws://T/")}
	for _, c := range []struct {
		name, source string
		overrides    protocol.Refresh
		want         string
	}{
		{"no overrides", fullSource, protocol.Refresh{}, `{"client":{"endpoint":"ws://c/","payload_capacity":7},"driver_model":"m",` +
			`"hub_remote_call":{"endpoint":"ws://t/"},"persistence":{"directory":"/p/a","format":"sqlite","memory":"mem","restore":"never","state":"st"},` +
			`"providers":{"m":{"config":{"big":1.1,"n":9007199254740993},"model":"x"}},"security":{"confirmation":{"endpoint":"ws://q/","timeout_ms":9}},"unknown":{"kept":[1,"two"]}}`},
		{
			"all overrides", "client: {endpoint: ws://c/}\nsecurity: {confirmation: {endpoint: ws://q/}}\nhub_remote_call: {endpoint: ws://t/}\n", all,
			`{"client":{"endpoint":"ws://C/"},"hub_remote_call":{"endpoint":"ws://T/"},"persistence":{"directory":"/p/a"},"security":{"confirmation":{"endpoint":"ws://Q/"}}}`,
		},
		{
			"sections that the source lacks are not enabled", "security: {sandbox: {}}\n", all,
			`{"client":{"endpoint":"ws://C/"},"persistence":{"directory":"/p/a"},"security":{"sandbox":{}}}`,
		},
		{
			"a null section is none", "security: {confirmation: }\nhub_remote_call:\nclient:\n", all,
			`{"client":{"endpoint":"ws://C/"},"hub_remote_call":null,"persistence":{"directory":"/p/a"},"security":{"confirmation":null}}`,
		},
		{
			"anchors and merges", "d: &d {endpoint: ws://x/, payload_capacity: 1}\nclient: {<<: *d}\n",
			protocol.Refresh{ClientEndpoint: new("ws://C/")},
			`{"client":{"endpoint":"ws://C/","payload_capacity":1},"d":{"endpoint":"ws://x/","payload_capacity":1},"persistence":{"directory":"/p/a"}}`,
		},
	} {
		doc, err := Effective(c.source, c.overrides, "/p/a")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := string(doc.Effective); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestRefusedConfigurations(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "text": "just text", "list": "[1]", "null": "~", "two documents": "a: 1\n---\nb: 2\n", "tab": "a:\n\tb: 1\n",
		"duplicate key": "a: 1\na: 2\n", "open quote": "a: \"b\n", "control character": "a: \x01\n", "NUL": "a: \x00\n",
		"alias bomb":         "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c]\n",
		"anchor into itself": "a: &a [*a]\n",
		"persistence null":   "persistence:\n", "persistence list": "persistence: []\n",
		"absolute": "persistence: {state: /x}\n", "parent": "persistence: {state: ../x}\n", "parent inside": "persistence: {memory: a/../b}\n",
		"empty state": "persistence: {state: ''}\n", "null state": "persistence: {state: }\n", "number": "persistence: {state: 5}\n",
		"dot": "persistence: {state: .}\n", "dot slash": "persistence: {memory: ./}\n", "config": "persistence: {state: config}\n",
		"below config": "persistence: {memory: ./config/x}\n", "session.lock": "persistence: {state: session.lock}\n",
		"below session.lock": "persistence: {state: session.lock/x}\n", "same": "persistence: {state: x, memory: ./x/}\n",
		"memory in state": "persistence: {state: x, memory: x/y}\n", "state in memory": "persistence: {state: memory/y}\n",
		"memory is the default state": "persistence: {memory: state}\n", "format": "persistence: {format: xml}\n", "format null": "persistence: {format: }\n",
		"format case": "persistence: {format: JSON}\n",
	} {
		_, err := Effective(text+"\n# "+secret, protocol.Refresh{}, "/p/a")
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if codeOf(err) != protocol.InvalidConfiguration || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty mapping": "{}", "byte order mark": "\ufeffa: 1\n", "CRLF": "a: 1\r\nb: 2\r\n", "deep places": "persistence: {state: a/b/c, memory: a/b/d}\n",
		"names alike": "persistence: {state: configs, memory: session.locks}\n", "dots in names": "persistence: {state: ..x, memory: x..}\n",
	} {
		if _, err := Effective(text, protocol.Refresh{}, "/p/a"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusedURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "http://h/", "ws:/h", "ws://", "ws:///x", "WS://h/", "ws://u:p@h/", "ws://h/#f", "ws://h/ x", "ws://h/\n", " ws://h/", "ws://h:0/", "ws://h:65536/", "ws://h:x/", "ws://[::1/", "ws://::1/",
	} {
		for _, r := range []protocol.Refresh{{ClientEndpoint: &url}, {ConfirmationEndpoint: &url}, {ToolsEndpoint: &url}} {
			if err := CheckRefresh(&r); err == nil || codeOf(err) != protocol.InvalidRequest {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
	for _, url := range []string{"ws://h", "wss://h:1/x?y=1", "ws://[::1]:8/x", "ws://" + placeholderHost + "/x"} {
		if err := CheckRefresh(&protocol.Refresh{ClientEndpoint: &url}); err != nil {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestChildSource(t *testing.T) {
	t.Parallel()
	doc, err := Effective(`
client: {endpoint: "ws://c/secret"}
security: {confirmation: {endpoint: "ws://q/"}}
hub_remote_call: {endpoint: "ws://t/"}
worker: {environment: {workspace: ../work}, system_prompt_file: prompts/x.yaml}
plugins:
  providers: {directories: [llm, /abs]}
  extensions:
    tools: {directories: [t], enable: [{name: a, schema_directory: s}, {name: b}]}
    loop_hooks: {directories: [h], enable: [{name: c, config_file: c.yaml}]}
persistence: {state: st, restore: never}
`, protocol.Refresh{}, "/p/parent")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Child(doc.Effective, "/p/parent", "/p/child")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"client":{"endpoint":"ws://unconfigured.invalid/events"},"hub_remote_call":{"endpoint":"ws://unconfigured.invalid/tools"},` +
		`"persistence":{"directory":"/p/child","restore":"if_present","state":"st"},` +
		`"plugins":{"extensions":{"loop_hooks":{"directories":["/p/parent/config/h"],"enable":[{"config_file":"/p/parent/config/c.yaml","name":"c"}]},` +
		`"tools":{"directories":["/p/parent/config/t"],"enable":[{"name":"a","schema_directory":"/p/parent/config/s"},{"name":"b"}]}},` +
		`"providers":{"directories":["/p/parent/config/llm","/abs"]}},` +
		`"security":{"confirmation":{"endpoint":"ws://unconfigured.invalid/confirmation"}},` +
		`"worker":{"environment":{"workspace":"/p/parent/work"},"system_prompt_file":"prompts/x.yaml"}}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// A child that is forked again keeps its absolute paths.
	again, err := Child([]byte(got), "/p/child", "/p/grandchild")
	if err != nil || strings.Contains(again, "/p/child/config") || !strings.Contains(again, "/p/parent/config/s") {
		t.Errorf("%v: %s", err, again)
	}
	// What is absent stays absent, except for what a child must have.
	bare, err := Child([]byte(`{"persistence":{"directory":"/p/parent"}}`), "/p/parent", "/p/child")
	if err != nil || bare != `{"persistence":{"directory":"/p/child","restore":"if_present"}}` {
		t.Errorf("%v: %s", err, bare)
	}
}

// A child's source is JSON text, which a YAML reader must take for the same values.
func FuzzConfiguration(f *testing.F) {
	f.Add(fullSource)
	f.Add("a: \"\\x7f\\x85\\u2028\\ufeff \\uffff\"\nb: [1e400, .5, 0x10, ~, yes]\n? |\n  long key\n: v\n")
	f.Add("client: {endpoint: ws://x/}\nworker: {environment: {workspace: ./w}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Effective(text, protocol.Refresh{ClientEndpoint: new("ws://C/")}, "/p/a")
		if err != nil {
			return
		}
		again, err := document.ParseYAML("again", EscapeYAML(doc.Effective))
		if err != nil {
			tree, perr := document.ParseJSON("effective", doc.Effective)
			if perr == nil && longKey(tree.Root) {
				return // YAML takes no key of more than 1,024 characters on one line
			}
			t.Fatalf("%v in %s", err, doc.Effective)
		}
		if a, b := string(doc.Effective), again.JSON().String(); a != b {
			t.Fatalf("%s became %s", a, b)
		}
		if _, err := Child(doc.Effective, "/p/a", "/p/b"); err != nil {
			t.Fatal(err)
		}
	})
}

func longKey(n *document.Node) bool {
	for _, m := range n.Members {
		if len(m.Name) > 256 || longKey(m.Value) {
			return true
		}
	}
	for _, item := range n.Items {
		if longKey(item) {
			return true
		}
	}
	return false
}
