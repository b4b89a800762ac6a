package offline

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"

	"simplex/llm/strict"
)

// request is what a scenario looks at, whatever the protocol.
type request struct {
	Model    string    `json:"model"`
	Scenario string    `json:"scenario"`
	Messages []message `json:"messages"`
	Input    []message `json:"input"` // Responses: items; they become Messages
	Tools    []struct {
		Name     string `json:"name"` // Responses
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`

	responses bool // the protocol
	body      []byte
	tries     int // how often the same body came before, lately
}

// message is a message of Chat Completions or an item of Responses.
type message struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	Output    jsontext.Value `json:"output"`
	Reasoning string         `json:"reasoning_content"`
	Encrypted string         `json:"encrypted_content"`
}

// readRequest reads a body; the end of the path tells the protocol.
func readRequest(path string, body []byte) (*request, error) {
	r := &request{body: body, responses: strings.HasSuffix(path, "/responses")}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, err
	}
	if !r.responses {
		return r, nil
	}
	r.Messages = nil
	for _, item := range r.Input {
		switch item.Type {
		case "function_call_output":
			item.Role, item.Content = "tool", item.Output
		case "reasoning":
			item.Role, item.Reasoning = "assistant", item.Encrypted
		case "function_call":
			item.Role = "assistant"
		}
		r.Messages = append(r.Messages, item)
	}
	return r, nil
}

// check is what a strict server says of the request.
func (r *request) check() error {
	if r.responses {
		return strict.Responses(r.body)
	}
	return strict.Chat(r.body)
}

// text is the content of a message: its string, or the text of its parts.
func (m message) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return string(m.Content)
	}
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.Text)
	}
	return out.String()
}

// lastUser gives the newest user message.
func (r *request) lastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].text()
		}
	}
	return ""
}

// results gives the tool messages behind the last user message.
func (r *request) results() []string {
	var out []string
	for _, m := range r.Messages {
		switch m.Role {
		case "user":
			out = nil
		case "tool":
			out = append(out, m.text())
		}
	}
	return out
}

// count tells how many messages of a role the whole conversation has.
func (r *request) count(role string) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == role {
			n++
		}
	}
	return n
}

// thoughts gives the reasoning that was sent back.
func (r *request) thoughts() []string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == "assistant" && m.Reasoning != "" {
			out = append(out, m.Reasoning)
		}
	}
	return out
}

func (r *request) offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Function.Name == tool || t.Name == tool {
			return true
		}
	}
	return false
}
