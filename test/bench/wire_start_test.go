package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
	"simplex/state"
)

// megabyte is a conversation of tool turns whose document has about 1 MB.
func megabyte(b *testing.B) (st *state.State, document []byte) {
	b.Helper()
	st = state.New("s1", time.Unix(1700000000, 0))
	code := strings.Repeat("\tif err := run(ctx, \"name\"); err != nil {\n\t\treturn fmt.Errorf(\"line: %w\", err)\n\t}\n", 14)
	arguments, err := state.ValueOf(args{"path": "internal/some/file.go", "offset": 120, "limit": 80})
	must(b, err)
	for n := uint64(1); n <= 270; n++ {
		if n%8 == 1 {
			st.AppendTurn(&state.Turn{UserInput: state.NewTextMessage(state.UserInput, "user", "Please look at the next file.")})
		}
		call := state.Call{ID: fmt.Sprint("call_", n), Name: "read_text", Arguments: arguments, Type: state.ReadOnly, Security: state.RequireConfirm}
		asking := state.NewTextMessage(state.ModelResponse, "assistant", "")
		asking.Calls, asking.CallsSet, asking.Cost = []state.Call{call}, true, &state.TokenCost{Prompt: 1000, Generated: 50}
		st.AppendStep(&state.Step{
			CommitSequence: n, ModelResponse: asking, ReturnsSet: true,
			Returns: []*state.Message{state.NewResultMessage(state.Result{Call: call, Output: state.TextContent(fmt.Sprint(n, "\n", code))})},
		})
		if n%8 == 0 || n == 270 {
			n++
			st.AppendStep(&state.Step{CommitSequence: n, ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", "Done.")})
		}
		st.Loop.CommittedSequence = n
	}
	must(b, state.Check(st))
	var out bytes.Buffer
	must(b, state.Encode(&out, st))
	return st, out.Bytes()
}

// plainDocument is what a program that only wants the messages would decode into.
type plainDocument struct {
	Meta         jsontext.Value `json:"meta"`
	Loop         jsontext.Value `json:"loop"`
	SystemPrompt jsontext.Value `json:"system_prompt"`
	Turns        []struct {
		Input plainMessage `json:"user_input"`
		Steps []struct {
			Sequence uint64         `json:"commit_sequence"`
			Response plainMessage   `json:"model_response"`
			Returns  []plainMessage `json:"invoke_returns"`
		} `json:"agent_loop_step"`
	} `json:"turns"`
}

type plainMessage struct {
	Role    string         `json:"role"`
	Type    string         `json:"type"`
	Content []plainContent `json:"content"`
	Calls   []plainCall    `json:"invokes"`
	Result  *struct {
		Query  plainCall    `json:"query"`
		Output plainContent `json:"output"`
	} `json:"invoke_return"`
	Cost map[string]uint64 `json:"cost"`
}

type plainContent struct {
	Modality string `json:"modality"`
	Raw      string `json:"raw"`
	Type     string `json:"type"`
}

type plainCall struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Type      string         `json:"type"`
	Security  string         `json:"security"`
	Arguments jsontext.Value `json:"arguments"`
}

// openSession opens the store of a session s1 below dir.
func openSession(b *testing.B, format, dir string) persistence.Store {
	b.Helper()
	if format == sqlitestore.Format {
		store, err := sqlitestore.Open(sqlitestore.Config{Root: dir, SessionID: "s1"})
		must(b, err)
		return store
	}
	store, err := jsonstore.Open(jsonstore.Config{Root: dir, SessionID: "s1"})
	must(b, err)
	return store
}

func putSession(b *testing.B, format, dir string, st *state.State) {
	b.Helper()
	store := openSession(b, format, dir)
	must(b, store.Save(context.Background(), st, persistence.Shutdown))
	must(b, store.Close())
}

// raceBest is race by the best of five times each, for what takes so little that another
// program's turn on the processor would be most of it.
func raceBest(b *testing.B, ours, bare func()) *pairs {
	b.Helper()
	p := &pairs{}
	for b.Loop() {
		var a, z []time.Duration
		for range 5 {
			a, z = append(a, timed(ours)), append(z, timed(bare))
		}
		p.ours, p.bare = append(p.ours, slices.Min(a)), append(p.bare, slices.Min(z))
	}
	return p
}

// What a start does with a stored session of 1 MB, opening and checking included: against
// one decode of the document, and against its json.Unmarshal.
func BenchmarkRestore(b *testing.B) {
	st, document := megabyte(b)
	for _, format := range []string{jsonstore.Format, sqlitestore.Format} {
		dir := filepath.Join(b.TempDir(), "session")
		putSession(b, format, dir, st)
		restore := func() {
			store := openSession(b, format, dir)
			got, err := store.Load(context.Background())
			must(b, err)
			must(b, state.Check(got))
			must(b, store.Close())
		}
		name := fmt.Sprintf("restore of %d KB from %s, against ", len(document)/1000, format)
		b.Run(format+"/decode", func(b *testing.B) {
			raceBest(b, restore, func() {
				_, err := state.Decode(document)
				must(b, err)
			}).cost(b, name+"one decode", 1.5)
		})
		b.Run(format+"/unmarshal", func(b *testing.B) {
			raceBest(b, restore, func() {
				var v plainDocument
				must(b, json.Unmarshal(document, &v))
			}).cost(b, name+"json.Unmarshal into records", 1)
		})
	}
}

// chatStart is the time from the start of `simplex chat` to its `ready`.
func chatStart(b *testing.B, binary, dir, format string) time.Duration {
	b.Helper()
	cmd := exec.Command(binary, "chat", "--offline", "--json", "--session", "s1", "--config", filepath.Join(dir, format+".yaml"))
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	began := time.Now()
	must(b, cmd.Start())
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	took := time.Since(began)
	if err != nil || !strings.Contains(line, `"ready"`) {
		b.Errorf("%v, first event %.300s", err, line)
	}
	must(b, in.Close()) // leaves in order
	_, err = lines.WriteTo(&counter{})
	must(b, err)
	must(b, cmd.Wait())
	return took
}

func writeConfig(dir, format string) error {
	text := "persistence: { directory: session, format: " + format + " }\n"
	return os.WriteFile(filepath.Join(dir, format+".yaml"), []byte(text), 0o600)
}

// The cold start of `simplex chat` on a session of 1 MB, over the start on an empty one,
// against json.Unmarshal of the document; each the best of five, as the difference of two
// scattered times tells nothing.
func BenchmarkColdStart(b *testing.B) {
	binary := simplexBinary(b)
	st, document := megabyte(b)
	for _, format := range []string{jsonstore.Format, sqlitestore.Format} {
		b.Run(format, func(b *testing.B) {
			var dirs [2]string
			for i, content := range []*state.State{state.New("s1", time.Unix(1700000000, 0)), st} {
				dirs[i] = b.TempDir()
				must(b, writeConfig(dirs[i], format))
				putSession(b, format, filepath.Join(dirs[i], "session"), content)
			}
			var over, whole pairs
			for b.Loop() {
				var empty, full, bare []time.Duration
				for range 5 {
					empty = append(empty, chatStart(b, binary, dirs[0], format))
					full = append(full, chatStart(b, binary, dirs[1], format))
					bare = append(bare, timed(func() {
						var v plainDocument
						must(b, json.Unmarshal(document, &v))
					}))
				}
				over.ours, over.bare = append(over.ours, slices.Min(full)-slices.Min(empty)), append(over.bare, slices.Min(bare))
				whole.ours, whole.bare = append(whole.ours, slices.Min(full)), append(whole.bare, slices.Min(bare))
			}
			name := fmt.Sprintf("cold start of chat on %d KB in %s, ", len(document)/1000, format)
			over.cost(b, name+"over an empty session, against json.Unmarshal", 1)
			whole.cost(b, name+"the whole of it, against json.Unmarshal", 0)
		})
	}
}
