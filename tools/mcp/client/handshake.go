package client

import (
	"context"
	"fmt"

	"simplex/internal/text"
)

// newest is the revision of the protocol that is offered.
const newest = "2025-11-25"

// known tells whether a revision is one that this package speaks. In what it uses of
// them they differ in arrays of messages only, which are taken in all.
func known(revision string) bool {
	switch revision {
	case newest, "2025-06-18", "2025-03-26", "2024-11-05":
		return true
	}
	return false
}

// initialize shakes hands: nothing is announced, so a server has nothing to ask for.
func (s *Session) initialize(ctx context.Context) error {
	params := []byte(`{"protocolVersion":"` + newest + `","capabilities":{},"clientInfo":{"name":"simplex","version":`)
	params = append(params, quote(s.cfg.Version)...)
	params = append(params, "}}"...)
	var agreed struct {
		Revision string `json:"protocolVersion"`
	}
	if _, err := s.ask(ctx, methodInitialize, params, &agreed); err != nil {
		return err
	}
	if !known(agreed.Revision) {
		const most = 64
		return fmt.Errorf("%w: it wants revision %q, which is not known here", ErrProtocol, text.Prefix(agreed.Revision, most))
	}
	return s.send(ctx, notification(methodInitialized, nil))
}
