package docs

import (
	"encoding/json/v2"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// room is one row of the house: which of our packages it may import, and why.
type room struct {
	pattern string   // package path below the module; "/..." covers what lies below it, too
	may     []string // patterns of the same form
	why     string
}

// house is the table of docs/architecture.md: imports go down only, never sideways unless the row says so.
var house = []room{
	{".", nil, "the version is a leaf"},
	{"state", nil, "the conversation knows nobody"},
	{"wire/...", []string{"state", "wire/...", "internal/..."}, "messages speak of the conversation only"},
	{"manager/protocol", nil, "both ends of manage share the codec and nothing else"},
	{"internal/...", []string{"internal/..."}, "internal packages are the ground floor"},
	{"prompts", nil, "texts are a leaf"},
	{"process/...", []string{"internal/...", "process/..."}, "children know nothing of tools"},
	{"intercom", []string{"wire/...", "internal/..."}, "transport carries frames, it does not read conversations"},
	{"llm/...", []string{"state", "llm/...", "."}, "a provider turns a conversation into one exchange"},
	{"persistence/...", []string{"state", "internal/...", "persistence/..."}, "a store keeps states, it does not run them"},
	{"load/...", []string{"state", "internal/...", "prompts", "load/..."}, "configuration is read, nothing is constructed"},
	{"hooks/...", []string{"state", "internal/...", "hooks/..."}, "hooks see the conversation only"},
	{"tools/...", []string{"state", "process/...", "wire/...", "intercom", "internal/...", "tools/..."}, "tools act on the machine, not on the session"},
	{"manager/...", []string{"manager/...", "load/...", "persistence/...", "state", "internal/..."}, "the manager never runs a model nor reaches the network"},
	{"loop", []string{"state", "hooks"}, "the loop does no I/O and imports only what it must"},
	{"core/compact", []string{"state", "wire/...", "hooks/...", "loop", "persistence/...", "internal/..."}, "compaction decides, core acts"},
	{"core", []string{".", "core/...", "state", "wire/...", "process/...", "intercom", "llm/...", "persistence/...", "load/...", "hooks/...", "tools/...", "manager/...", "loop", "internal/..."}, "the application knows all parts but the Hub"},
	{"hub/...", []string{"wire/...", "state", "manager/protocol", "intercom", "internal/...", "hub/..."}, "the Hub never links a worker"},
	{"cmd/...", []string{"..."}, "only the command knows all parts"},
	{"docker/...", nil, "what a container needs beside the binary is a leaf"},
	{"docs", nil, "the pages' tests run the tree from outside"},
	{"test/...", []string{"..."}, "tests drive the real binary"},
}

// owners says which room alone may import a library.
var owners = map[string][]string{
	"github.com/urfave/cli/v2":          {"cmd/..."},
	"gopkg.in/yaml.v3":                  {"load/..."},
	"github.com/mattn/go-sqlite3":       {"persistence/..."},
	"github.com/gorilla/websocket":      {"intercom", "hub/..."},
	"github.com/creack/pty":             {"process/..."},
	"github.com/sashabaranov/go-openai": {"llm/..."},
}

// pulls says what must not be in the closure of a room.
var pulls = map[string][]string{
	"manager": {"net/http"},
	"loop":    {"net", "os/exec"},
}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, p := range packages(t) {
		r, ok := roomOf(p.ImportPath)
		if !ok {
			t.Errorf("%s has no room in the house: add it to the table here and in docs/architecture.md", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if err := allowed(r, p.ImportPath, imp); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestHeavyClosuresStayOut(t *testing.T) {
	for _, p := range packages(t) {
		for _, banned := range pulls[local(p.ImportPath)] {
			if slices.Contains(p.Deps, banned) {
				t.Errorf("%s pulls in %s", p.ImportPath, banned)
			}
		}
	}
}

func TestLayeringTestCanFail(t *testing.T) {
	r, _ := roomOf("simplex/loop")
	if allowed(r, "simplex/loop", "simplex/tools") == nil {
		t.Error("loop importing tools passes")
	}
	if allowed(r, "simplex/loop", "github.com/gorilla/websocket") == nil {
		t.Error("loop importing the WebSocket library passes")
	}
	r, _ = roomOf("simplex/tools/process")
	if err := allowed(r, "simplex/tools/process", "simplex/tools"); err != nil {
		t.Errorf("a set may import the registry: %v", err)
	}
}

func allowed(r room, from, imp string) error {
	if imp == "simplex" || strings.HasPrefix(imp, "simplex/") {
		if slices.ContainsFunc(r.may, func(p string) bool { return matches(p, local(imp)) }) {
			return nil
		}
		return fmt.Errorf("%s imports %s: %s (it may import %v)", from, imp, r.why, r.may)
	}
	rooms, owned := owners[imp]
	if owned && !slices.ContainsFunc(rooms, func(p string) bool { return matches(p, local(from)) }) {
		return fmt.Errorf("%s imports %s, which only %v may", from, imp, rooms)
	}
	return nil
}

func roomOf(importPath string) (room, bool) {
	for _, r := range house {
		if matches(r.pattern, local(importPath)) {
			return r, true
		}
	}
	return room{}, false
}

func matches(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	dir, deep := strings.CutSuffix(pattern, "/...")
	return name == dir || deep && strings.HasPrefix(name, dir+"/")
}

// local is the path below the module, "." for the module's root package.
func local(importPath string) string {
	return path.Clean(strings.TrimPrefix(strings.TrimPrefix(importPath, "simplex"), "/"))
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for chunk := range strings.SplitSeq(string(out), "\n}\n") {
		if strings.TrimSpace(chunk) == "" {
			continue
		}
		var p listed
		if err := json.Unmarshal([]byte(chunk+"}"), &p); err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
	return all
}
