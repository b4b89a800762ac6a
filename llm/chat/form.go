package chat

import (
	openai "github.com/sashabaranov/go-openai"

	"simplex/llm/replay"
	"simplex/state"
)

// form is the replay.Form of Chat Completions.
type form struct {
	dialect   Dialect
	reasoning bool // it is sent back
}

// Head implements replay.Form.
func (f *form) Head(settings state.Object, tools []state.Tool) ([]byte, bool, error) {
	body, err := requestSettings(settings, f.dialect)
	if err != nil {
		return nil, false, err
	}
	wanted := f.dialect.ReplaysReasoning != nil && f.dialect.ReplaysReasoning(body)
	anew := wanted != f.reasoning
	f.reasoning = wanted
	out, err := replay.AppendHead(nil, body, tools, appendTool)
	return out, anew, err
}

// Prompt implements replay.Form.
func (f *form) Prompt(text string) []byte {
	dst := []byte(`"messages":[`)
	if text == "" {
		return dst
	}
	dst = append(dst, `{"role":"`+openai.ChatMessageRoleSystem+`","content":`...)
	return append(replay.AppendText(dst, text), '}')
}
