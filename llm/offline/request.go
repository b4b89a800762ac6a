package offline

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
)

// request is what a scenario looks at.
type request struct {
	Model    string    `json:"model"`
	Scenario string    `json:"scenario"`
	Messages []message `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`

	bytes int // size of the body
}

type message struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
}

func readRequest(body []byte) (*request, error) {
	r := &request{bytes: len(body)}
	err := json.Unmarshal(body, r)
	return r, err
}

// text is the content of a string message, or its JSON.
func (m message) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	return string(m.Content)
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

// calls counts the tool messages of the whole conversation, for ids that do not repeat.
func (r *request) calls() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			n++
		}
	}
	return n
}

func (r *request) offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Function.Name == tool {
			return true
		}
	}
	return false
}

// output finds the standard output in the text of a command's result: the fenced block
// behind the line that starts with stdout.
func output(result string) (string, bool) {
	_, rest, found := strings.Cut("\n"+result, "\nstdout (")
	if !found {
		return "", false
	}
	_, rest, _ = strings.Cut(rest, "\n")
	fence, rest, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(fence, "```") {
		return "", false
	}
	marks := fence[:len(fence)-len(strings.TrimLeft(fence, "`"))]
	text, _, _ := strings.Cut("\n"+rest, "\n"+marks)
	return strings.TrimPrefix(text, "\n"), true
}
