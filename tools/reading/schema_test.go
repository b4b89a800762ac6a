package reading_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/reading"
)

// TestDeclarationsUpToDate holds what is built in against the YAML it stands for.
func TestDeclarationsUpToDate(t *testing.T) {
	want, err := tools.Bundle(os.DirFS("schema"), decodeYAML)
	must(t, err)
	if *update {
		must(t, os.WriteFile("schema/bundle.json", want, 0o644))
	}
	got, err := os.ReadFile("schema/bundle.json")
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("schema/bundle.json is not what schema/*.yaml says: run go generate")
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	builtin, err := reading.New(reading.Config{})
	must(t, err)
	directory, err := reading.New(reading.Config{SchemaDir: "schema", DecodeYAML: decodeYAML})
	must(t, err)
	for name, set := range map[string]*reading.Set{"built in": builtin, "directory": directory} {
		if len(set.Tools()) != 1 || set.Tools()[0].Declaration().Name != "read_text" {
			t.Fatalf("%s: tools %v", name, set.Tools())
		}
		d := set.Tools()[0].Declaration()
		if d.Offer() != builtin.Tools()[0].Declaration().Offer() {
			t.Errorf("%s differs", name)
		}
		if v, _ := d.Schema.Get("additionalProperties"); v != state.BoolValue(false) {
			t.Errorf("%s: the declaration is open", name)
		}
		skill := set.Skill()
		if skill == nil || skill.Name != "reading" || !strings.Contains(skill.Text, "`read_text`") {
			t.Errorf("%s: skill %+v", name, skill)
		}
		r := tools.NewRegistry(nil)
		must(t, r.Add(set))
		if g := r.Groups(); len(g) != 1 || g[0].Name != "reading" || len(g[0].Missing) != 0 {
			t.Errorf("%s: groups %+v", name, g)
		}
		must(t, r.Shutdown(t.Context()))
	}
}

// A config that is not understood leaves the tool out; it is never guessed at.
func TestConfigIsClosed(t *testing.T) {
	t.Parallel()
	for config, offered := range map[string]bool{
		`{}`:                             true,
		`{max_file_bytes: 1}`:            true,
		`{max_file_bytes: 0}`:            false,
		`{max_file_bytes: 1073741824}`:   true,
		`{max_file_bytes: 1073741825}`:   false,
		`{max_output_bytes: 1}`:          true,
		`{max_output_bytes: 0}`:          false,
		`{max_output_bytes: 16777216}`:   true,
		`{max_output_bytes: 16777217}`:   false,
		`{max_output_bytes: "65536"}`:    false,
		`{max_output_bytes: 1.5}`:        false,
		`{max_output_bytes: null}`:       false,
		`{max_bytes: 5}`:                 false,
		`{max_file_bytes: 5, probe: 10}`: false,
	} {
		if got := len(limited(t, config).registry.Names()) == 1; got != offered {
			t.Errorf("%s: offered %v", config, got)
		}
	}
	for _, n := range []int{-1, 1<<20 + 1} {
		if _, err := reading.New(reading.Config{ProbeBytes: n}); err == nil {
			t.Errorf("a probe of %d bytes", n)
		}
	}
}

// TestArguments goes over every clause of the declaration, with one call on each side
// of the line.
func TestArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const settled = `{"count":200,"format":"plain","mode":"lines","path":"/","start":0}`
	for args, want := range map[string]string{
		`{"path":"/"}`:                 settled,
		`{"path":"/","start":null}`:    settled,
		`{}`:                           `argument "path" is required`,
		`{"path":""}`:                  `argument "path" must not be empty`,
		`{"path":7}`:                   `argument "path" must be a string, not a number`,
		`{"path":"a\u0000b"}`:          `argument "path" must not contain NUL`,
		`{"path":"/","mode":"chars"}`:  `argument "mode" must be one of ["lines" "bytes"]`,
		`{"path":"/","start":-1}`:      `argument "start" must be a whole number of 0 or more, not -1`,
		`{"path":"/","start":"0"}`:     `argument "start" must be an integer, not a string`,
		`{"path":"/","count":-1}`:      `argument "count" must be a whole number of 0 or more, not -1`,
		`{"path":"/","count":0}`:       `{"count":0,"format":"plain","mode":"lines","path":"/","start":0}`,
		`{"path":"/","format":"json"}`: `argument "format" must be one of ["plain" "line_index" "byte_range" "hex_escaped"]`,
		`{"path":"/","offset":1}`:      `unknown argument "offset"; the valid ones are: count, format, mode, path, start`,

		`{"path":"/","format":"line_index"}`:                 `{"count":200,"format":"line_index","mode":"lines","path":"/","start":0}`,
		`{"path":"/","format":"byte_range"}`:                 `{"count":200,"format":"byte_range","mode":"lines","path":"/","start":0}`,
		`{"path":"/","format":"hex_escaped"}`:                `argument "format" "hex_escaped" needs mode "bytes"; with mode "lines" use plain, line_index or byte_range`,
		`{"path":"/","mode":"bytes"}`:                        `{"count":200,"format":"plain","mode":"bytes","path":"/","start":0}`,
		`{"path":"/","mode":"bytes","format":"hex_escaped"}`: `{"count":200,"format":"hex_escaped","mode":"bytes","path":"/","start":0}`,
		`{"path":"/","mode":"bytes","format":"line_index"}`:  `argument "format" "line_index" needs mode "lines"; with mode "bytes" use plain or hex_escaped`,
		`{"path":"/","mode":"bytes","format":"byte_range"}`:  `argument "format" "byte_range" needs mode "lines"; with mode "bytes" use plain or hex_escaped`,
	} {
		v, err := state.ParseValue([]byte(args))
		must(t, err)
		call := state.Call{ID: "c", Name: "read_text", Arguments: v}
		settled, run := b.registry.Prepare(call, nil)
		got := settled.Arguments.String()
		if settled == call {
			got = run(t.Context()).Output.Raw
			want = "Failed to read the arguments: " + want + " (tool read_text; call c)"
		} else if settled.Type != state.ReadOnly || settled.Security != state.Trusted {
			t.Errorf("classes %s, %s", settled.Type, settled.Security)
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", args, got, want)
		}
	}
}
