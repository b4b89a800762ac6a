package chat

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"simplex/wire"
)

// banner tells which session this is and how much of it there is already: an old one that
// goes on unnoticed costs money, and mixes two subjects. With JSON the number of turns is
// left out, as asking for it would be one more event.
func (t *talk) banner(ctx context.Context) {
	stored := t.cfg.Worker.Persistence.Enabled
	session := fmt.Sprintf("session %s in %s", t.cfg.SessionID, t.cfg.StateFile)
	switch turns, known := t.turns(ctx); {
	case t.ended || t.leaving:
		return
	case !stored:
		session = fmt.Sprintf("new session %s, which is not stored", t.cfg.SessionID)
	case !known:
	case turns == 0:
		session = "new " + session
	default:
		session = fmt.Sprintf("session %s, continued with %s from %s", t.cfg.SessionID, plural(turns, "turn"), t.cfg.StateFile)
	}
	t.show.note(session)
	t.show.note(fmt.Sprintf("%s; Ctrl-C cancels a run, a second one leaves, and so does Ctrl-D", t.cfg.Worker.Driver))
}

// turns asks the worker how many turns the conversation has.
func (t *talk) turns(ctx context.Context) (total uint64, known bool) {
	if t.cfg.JSON {
		return 0, false
	}
	id := uuid.NewString()
	query := fmt.Sprintf(`{"type":"payload","data":{"operation":"history","request_id":%q,"limit":1}}`, id)
	if t.hub.Send([]byte(query)) != nil {
		return 0, false
	}
	for {
		e := t.next(ctx)
		if e == nil || e.Name == wire.EventHistoryError {
			return 0, false
		}
		var h struct {
			RequestID string `json:"request_id"`
			Total     uint64 `json:"total"`
		}
		if e.Name == wire.EventHistory && decode(e.Data, &h) == nil && h.RequestID == id {
			return h.Total, true
		}
	}
}

func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
