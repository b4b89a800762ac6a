package process_test

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/process"
)

var update = flag.Bool("update", false, "write schema/bundle.json anew")

// decodeYAML is what the host gives in.
func decodeYAML(_ string, raw []byte) (state.Value, error) {
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return state.Value{}, err
	}
	return state.ValueOf(v)
}

// TestDeclarationsUpToDate holds what is built in against the YAML it stands for,
// which passes the whole vocabulary check on the way.
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

func TestBuiltInAndDirectoryAreTheSameSet(t *testing.T) {
	t.Parallel()
	builtin, err := process.New(process.Config{Store: newStore(t)})
	must(t, err)
	directory, err := process.New(process.Config{Store: newStore(t), SchemaDir: "schema", DecodeYAML: decodeYAML})
	must(t, err)
	want := []string{"spawn_process", "run_command", "poll_process", "read_process", "send_process"}
	for name, set := range map[string]*process.Set{"built in": builtin, "directory": directory} {
		var got []string
		for i, tool := range set.Tools() {
			d := tool.Declaration()
			got = append(got, d.Name)
			if other := builtin.Tools()[i].Declaration(); d.Offer() != other.Offer() {
				t.Errorf("%s: %s differs: %+v, %+v", name, d.Name, d.Offer(), other.Offer())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: tools %q", name, got)
		}
		r := tools.NewRegistry(nil)
		must(t, r.Add(set))
		if g := r.Groups(); len(g) != 1 || g[0].Name != "process" || len(g[0].Missing) != 0 {
			t.Errorf("%s: groups %+v", name, g)
		}
	}
}

func TestSkillNamesEveryTool(t *testing.T) {
	t.Parallel()
	set, err := process.New(process.Config{Store: newStore(t)})
	must(t, err)
	skill := set.Skill()
	if skill == nil || skill.Name != "process" || skill.Title != "Running and managing processes" {
		t.Fatalf("skill %+v", skill)
	}
	for _, tool := range set.Tools() {
		if name := "`" + tool.Declaration().Name + "`"; !strings.Contains(skill.Text, name) {
			t.Errorf("the skill does not name %s", name)
		}
	}
	if got := state.Canonical(skill.Text); got != skill.Text {
		t.Error("the skill's text is not canonical")
	}
}

func TestDeclarationsAreClosed(t *testing.T) {
	t.Parallel()
	set, err := process.New(process.Config{Store: newStore(t)})
	must(t, err)
	for _, tool := range set.Tools() {
		d := tool.Declaration()
		if v, _ := d.Schema.Get("additionalProperties"); v != state.BoolValue(false) {
			t.Errorf("%s is open", d.Name)
		}
	}
}

// A wrong directory is one mistake, and is told as one; it does not end the host.
func TestWrongDirectoryIsToldOnce(t *testing.T) {
	t.Parallel()
	for dir, reason := range map[string]string{"/no/such/directory": "no such file or directory", "schema_test.go": "is not a directory"} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		set, err := process.New(process.Config{Store: newStore(t), SchemaDir: dir, DecodeYAML: decodeYAML, Logger: logger})
		must(t, err)
		if len(set.Tools()) != 0 || set.Skill() != nil {
			t.Errorf("%s: tools %v", dir, set.Tools())
		}
		must(t, tools.NewRegistry(nil).Add(set))
		want := "in " + dir + ": at /: " + reason
		if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, want) || !strings.Contains(said, "SIMPLEX_PROCESS_SCHEMA_DIR") {
			t.Errorf("%s: said %s", dir, said)
		}
	}
}

func TestStoreIsRequired(t *testing.T) {
	t.Parallel()
	if _, err := process.New(process.Config{}); err == nil {
		t.Error("a set without a store was built")
	}
}

// Startup pays for this on every start of the program.
func BenchmarkNew(b *testing.B) {
	store := newStore(b)
	for b.Loop() {
		if _, err := process.New(process.Config{Store: store}); err != nil {
			b.Fatal(err)
		}
	}
}
