package state

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"strings"
	"testing"
)

// The plain records are what a program without our rules would use: the yardstick.
type (
	plainState struct {
		Extras jsontext.Value `json:"extras,omitempty"`
		Loop   *plainLoop     `json:"loop,omitempty"`
		Meta   struct {
			CreatedAt     string `json:"created_at"`
			SchemaVersion uint32 `json:"schema_version"`
			SessionID     string `json:"session_id"`
			Status        string `json:"status"`
			UpdatedAt     string `json:"updated_at"`
		} `json:"meta"`
		SystemPrompt struct {
			HeadingLevel int `json:"heading_level"`
			Sections     []struct {
				Name      string `json:"name"`
				Stability string `json:"stability"`
				Text      string `json:"text"`
				Title     string `json:"title"`
			} `json:"sections"`
		} `json:"system_prompt"`
		Tools []jsontext.Value `json:"tools"`
		Turns []plainTurn      `json:"turns"`
	}
	plainLoop struct {
		Sequence  uint64        `json:"committed_response_sequence"`
		Exchanges uint64        `json:"completed_exchanges"`
		Error     string        `json:"error"`
		Pending   []plainResult `json:"pending_results"`
		Phase     string        `json:"phase"`
		Status    string        `json:"status"`
	}
	plainTurn struct {
		Steps  []plainStep    `json:"agent_loop_step"`
		Extras jsontext.Value `json:"extras,omitempty"`
		Retain string         `json:"retain_priority"`
		Input  plainMessage   `json:"user_input"`
	}
	plainStep struct {
		Sequence uint64         `json:"commit_sequence,omitempty"`
		Extras   jsontext.Value `json:"extras,omitempty"`
		Returns  []plainMessage `json:"invoke_returns,omitempty"`
		Response plainMessage   `json:"model_response"`
		Retain   string         `json:"retain_priority"`
	}
	plainMessage struct {
		Content   []plainContent `json:"content"`
		Cost      *plainCost     `json:"cost,omitempty"`
		Extras    jsontext.Value `json:"extras,omitempty"`
		Result    *plainResult   `json:"invoke_return,omitempty"`
		Calls     []plainCall    `json:"invokes,omitempty"`
		Reasoning *plainContent  `json:"reasoning,omitempty"`
		Role      string         `json:"role"`
		Type      string         `json:"type"`
	}
	plainContent struct {
		Extras   jsontext.Value `json:"extras,omitempty"`
		Modality string         `json:"modality"`
		Raw      string         `json:"raw"`
		Type     string         `json:"type"`
	}
	plainCost struct {
		CacheHit  uint64 `json:"cache_hit"`
		Generated uint64 `json:"generated"`
		Prompt    uint64 `json:"prompt"`
	}
	plainCall struct {
		Arguments jsontext.Value `json:"arguments"`
		Extras    jsontext.Value `json:"extras,omitempty"`
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Security  string         `json:"security"`
		Type      string         `json:"type"`
	}
	plainResult struct {
		Extras jsontext.Value `json:"extras,omitempty"`
		Output plainContent   `json:"output"`
		Query  plainCall      `json:"query"`
	}
)

func plainOptions() json.Options {
	return json.JoinOptions(jsontext.WithIndent("  "))
}

// conversation is a state of about the given size: turns of eight tool steps whose
// outputs look like program text.
func conversation(size int) *State {
	st := New("bench", testTime)
	code := strings.Repeat("\tif err := run(ctx, \"name\"); err != nil {\n\t\treturn fmt.Errorf(\"line: %w\", err)\n\t}\n", 14)
	exec, _ := ParseObject([]byte(`{"simplex.execution":{"request_id":"req-1","run_id":"0b9e2a4c-55aa-4e1f-9a5e-000000000001","worker_id":"w-1"}}`))
	args, _ := ParseValue([]byte(`{"path":"internal/some/file.go","offset":120,"limit":80,"options":{"numbers":true}}`))
	for seq, total := uint64(1), 0; total < size; seq++ {
		if seq%8 == 1 {
			st.AppendTurn(&Turn{UserInput: NewTextMessage(UserInput, "user", "Please look at the next file and tell me what is in it.")})
		}
		call := Call{ID: fmt.Sprint("call_", seq), Name: "read_text", Arguments: args}
		think := TextContent("I should look at the file first, then decide what to change in it.")
		text := TextContent(fmt.Sprint("Step ", seq, "\n", code))
		st.AppendStep(&Step{
			CommitSequence: seq, Extras: exec,
			ModelResponse: &Message{Type: ModelResponse, Role: "assistant", Calls: []Call{call}, Reasoning: &think, Cost: &TokenCost{Prompt: 1000, Generated: 50, CacheHit: 900}},
			Returns:       []*Message{NewResultMessage(Result{Call: call, Output: text})},
		})
		total += 2*len(text.Raw) + 2200
	}
	return st
}

func BenchmarkEncode(b *testing.B) {
	st := conversation(1 << 20)
	raw := encoded(b, st)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if err := Encode(io.Discard, st); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plain", func(b *testing.B) {
		var p plainState
		if err := json.Unmarshal(raw, &p); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if err := json.MarshalWrite(io.Discard, &p, plainOptions()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A save after one more step of a 1 MB conversation, the write into memory included.
func BenchmarkEncodeNextStep(b *testing.B) {
	st := conversation(1 << 20)
	enc := NewEncoder()
	var out bytes.Buffer
	if err := enc.Encode(&out, st); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	b.ReportAllocs()
	base := st.Clone()
	for b.Loop() {
		st = base.Clone()
		st.AppendStep(toolStep(1<<20, "the next"))
		out.Reset()
		if err := enc.Encode(&out, st); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	raw := encoded(b, conversation(1<<20))
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			var p plainState
			if err := json.Unmarshal(raw, &p); err != nil {
				b.Fatal(err)
			}
		}
	})
}
