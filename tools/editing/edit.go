package editing

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"simplex/state"
	"simplex/tools"
	"simplex/tools/result"
)

// maxFile is the largest content before and after an edit, in bytes.
const maxFile = 16 << 20

// strReplace is the tool.
type strReplace struct {
	decl tools.Declaration
	hook Hook
	busy sync.Mutex // held through an edit
}

func (t *strReplace) Declaration() tools.Declaration { return t.decl }

// edit is a settled call.
type edit struct {
	path     string
	old, new string
	context  int
}

func (t *strReplace) Prepare(a *tools.Arguments) (tools.Plan, error) {
	e := edit{path: a.RequireString("path")}
	if strings.ContainsRune(e.path, 0) {
		a.Failf("path", "must not contain NUL")
	}
	e.old = a.RequireString("old_text")
	e.new = a.RequireText("new_text")
	e.context = int(a.SettleUint("context_lines", 3, 0, 20))
	return tools.Plan{
		Type: state.SerialWrite, Security: state.RequireConfirm,
		Invoke: func(context.Context) (state.Result, error) { return t.edit(e) },
	}, nil
}

// The statuses of a result.
const (
	modified   = "modified"
	unchanged  = "unchanged"
	syncFailed = "published_sync_failed"
)

// edit does one edit: look, find, publish, report.
func (t *strReplace) edit(e edit) (state.Result, error) {
	t.busy.Lock()
	defer t.busy.Unlock()
	target, err := open(e.path, t.hook)
	if err != nil {
		return state.Result{}, refusal(e.path, err)
	}
	defer target.close()
	before, err := target.read()
	if err != nil {
		return state.Result{}, refusal(e.path, err)
	}
	m, err := find(before, []byte(e.old), []byte(e.new))
	if err != nil {
		return state.Result{}, refusal(e.path, err)
	}
	out := outcome{edit: e, match: m, before: before, after: m.apply(before), status: modified}
	switch {
	case m.same(before):
		out.status = unchanged
	case len(out.after) > maxFile:
		return state.Result{}, &tools.Failure{Message: fmt.Sprintf("the file would have %d bytes, more than the limit of %d; nothing was written", len(out.after), maxFile)}
	default:
		out.unsynced, err = target.replace(before, out.after)
		if err != nil {
			return state.Result{}, refusal(e.path, err)
		}
		if out.unsynced != nil {
			out.status = syncFailed
		}
	}
	return out.result(), nil
}

// outcome is an edit that found its place.
type outcome struct {
	edit
	match
	before, after []byte
	status        string
	unsynced      error // why the new content is perhaps not durable
}

func (o *outcome) result() state.Result {
	way := approachTo(o.before, o.at, o.context)
	was, is := o.views(way)
	beforeRows, cutBefore := was.render()
	afterRows, cutAfter := is.render()
	var text result.Text
	r := text.Record()
	r.String("status", o.status)
	r.Int("match_line", int64(way.number))
	r.Int("match_byte_column", int64(o.at-textBegin(o.before, way.begin)))
	r.Int("before_bytes", int64(len(o.before)))
	r.Int("after_bytes", int64(len(o.after)))
	r.Bool("preview_truncated", cutBefore || cutAfter)
	if o.unsynced != nil {
		r.String("persistence_error", o.unsynced.Error())
		r.String("hint", "the new content is in the file, but it is not sure that it survives a power loss; do not repeat the edit")
	} else if o.mixes(o.before) {
		r.String("hint", "the line here ends with CRLF, but new_text brought line ends of LF")
	}
	r.Block("before", beforeRows)
	r.Block("after", afterRows)
	return state.Result{Output: text.Content()}
}
