package modality

import (
	"context"
	"fmt"
	"strings"
	"time"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// assist is the tool.
type assist struct {
	decl   tools.Declaration
	prompt string
	model  Model
	now    func() time.Time
}

func (t *assist) Declaration() tools.Declaration { return t.decl }

// question is a settled call.
type question struct {
	paths   []string
	media   []string // media type of each path
	request string
	prompt  string
}

func (t *assist) Prepare(a *tools.Arguments) (tools.Plan, error) {
	q := question{paths: a.RequireStrings("path"), request: a.RequireString("request")}
	for i, path := range q.paths {
		media, err := mediaType(path)
		if err != nil {
			a.Failf(fmt.Sprintf("path[%d]", i), "%w", err)
		}
		q.media = append(q.media, media)
	}
	a.SettleEnum("extra_modality", "vision", "vision")
	q.prompt = a.SettleString("system_prompt", t.prompt)
	if q.prompt == "" {
		a.Failf("system_prompt", "must not be empty; leave it out instead")
	}
	return tools.Plan{
		Type: state.ReadOnly, Security: state.Trusted,
		Invoke: func(ctx context.Context) (state.Result, error) { return t.ask(ctx, q) },
	}, nil
}

// ask prepares every file, asks once and reports.
func (t *assist) ask(ctx context.Context, q question) (state.Result, error) {
	images, size, err := q.images()
	if err != nil {
		return state.Result{}, err
	}
	conversation, err := t.conversation(q, images)
	if err != nil {
		return state.Result{}, err
	}
	reply, err := t.model.Exchange(context.WithoutCancel(ctx), conversation)
	if err != nil {
		return state.Result{}, &tools.Failure{Message: "the model for images could not be asked", Cause: err}
	}
	description, err := answerText(reply)
	if err != nil {
		return state.Result{}, err
	}
	var text result.Text
	r := text.Record()
	r.Strings("path", q.paths)
	r.Strings("media_type", q.media)
	r.Int("file_bytes", size)
	if reply.Cost != nil {
		if cost, err := state.ValueOf(*reply.Cost); err == nil {
			r.Value("token_cost", cost)
		}
	}
	r.Block("description", description)
	return state.Result{Output: text.Content()}, nil
}

// conversation is a fresh one: the instruction, and one turn with the request and the
// images in their order.
func (t *assist) conversation(q question, images []state.Content) (*state.State, error) {
	st := state.New("modality-assist", t.now())
	err := st.SystemPrompt.Add(state.Section{Name: "instruction", Stability: state.Immutable, Text: q.prompt})
	if err != nil {
		return nil, fmt.Errorf("system_prompt: %w", err)
	}
	input := state.NewTextMessage(state.UserInput, "user", q.request)
	input.Content = append(input.Content, images...)
	st.AppendTurn(&state.Turn{UserInput: input, Retain: state.RetainNormal})
	return st, nil
}

// answerText is the text of a reply that is nothing but text.
func answerText(reply *state.Message) (string, error) {
	if reply == nil {
		return "", &tools.Failure{Message: "the model for images gave no answer"}
	}
	if len(reply.Calls) > 0 {
		return "", &tools.Failure{Message: "the model for images tried to call tools instead of answering"}
	}
	var parts []string
	for _, part := range reply.Content {
		if part.Type != state.TypeText || part.Modality != "" && part.Modality != state.ModalityText {
			return "", &tools.Failure{Message: fmt.Sprintf("the model for images answered with %s/%s instead of text", part.Type, part.Modality)}
		}
		if part.Raw != "" {
			parts = append(parts, part.Raw)
		}
	}
	text := strings.Join(parts, "\n")
	if strings.TrimSpace(text) == "" {
		return "", &tools.Failure{Message: "the model for images answered without any text"}
	}
	return text, nil
}
