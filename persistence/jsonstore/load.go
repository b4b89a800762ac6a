package jsonstore

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"simplex/persistence"
	"simplex/state"
)

// Load reads the document. See persistence.Store.
func (s *Store) Load(ctx context.Context) (*state.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("load session %s: %w", s.cfg.Root, persistence.ErrClosed)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("load session %s: %w", s.cfg.Root, err)
	}
	if s.cfg.Restore == persistence.RestoreNever {
		return nil, s.passOver()
	}
	raw, err := s.root.State.ReadFile(StateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.elsewhere()
	}
	if err != nil {
		return nil, &persistence.CorruptError{Path: s.Path(), Err: err}
	}
	st, err := state.Decode(raw)
	if err != nil {
		return nil, &persistence.CorruptError{Path: s.Path(), Cut: cutOff(raw), Err: err}
	}
	if err := s.own(st); err != nil {
		return nil, err
	}
	return st, nil
}

// passOver leaves the session that is there unread (restore: never). One of another id
// is not this worker's to replace; what cannot be read may be.
func (s *Store) passOver() error {
	if !s.root.State.Exists(StateFile) {
		return nil
	}
	raw, err := s.root.State.ReadFile(StateFile)
	if err == nil {
		var st *state.State
		if st, err = state.Decode(raw); err == nil {
			err = s.own(st)
			if err != nil {
				return err
			}
		}
	}
	s.log.Warn("session is not restored; the first save replaces it", "path", s.Path(), "readable", err == nil)
	return nil
}

// elsewhere refuses to begin anew beside a session that the other format keeps.
func (s *Store) elsewhere() error {
	if s.root.State.Exists(otherFile) {
		return &persistence.OtherFormatError{Path: filepath.Join(s.root.State.Path(), otherFile), Format: "sqlite", Want: Format}
	}
	return nil
}

// cutOff tells whether raw, which did not decode, is the beginning of a JSON document.
// A person who reads that looks for a backup and not for a mistake in the text.
func cutOff(raw []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	_, err := dec.ReadValue()
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
