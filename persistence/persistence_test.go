package persistence_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"simplex/internal/durable"
	"simplex/persistence"
)

func TestPolicySkipsOnlyItsThreeBoundaries(t *testing.T) {
	t.Parallel()
	all := persistence.Policy{SkipStepFinished: true, SkipRunFinished: true, SkipShutdown: true}
	for _, tc := range []struct {
		boundary persistence.Boundary
		optional bool
	}{
		{persistence.BeforeTools, false},
		{persistence.ResultsReady, false},
		{persistence.StepFinished, true},
		{persistence.RunFinished, true},
		{persistence.Compact, false},
		{persistence.Cancelled, false},
		{persistence.Shutdown, true},
	} {
		if !(persistence.Policy{}).Saves(tc.boundary) {
			t.Errorf("%s is skipped without being asked for", tc.boundary)
		}
		if all.Saves(tc.boundary) == tc.optional {
			t.Errorf("%s: optional is %v", tc.boundary, tc.optional)
		}
	}
}

// full is a save on a full disk.
func full(published bool) error {
	cause := fmt.Errorf("write .simplex-write-abc: %w", syscall.ENOSPC)
	return &persistence.StorageFailedError{Boundary: persistence.Compact, Err: &durable.PublishError{
		Path: "/s/state.json", Step: durable.LabelWrite, Published: published, Err: cause,
	}}
}

func TestErrorsNameThePlaceAndKeepTheCause(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("at byte 9: %w", io.ErrUnexpectedEOF)
	for _, tc := range []struct {
		err   error
		is    error
		words string
	}{
		{&persistence.InUseError{Root: "/s/1", Holder: "process 8 (simplex)", Err: cause}, persistence.ErrInUse, "/s/1 is in use by process 8 (simplex)"},
		{&persistence.StorageFailedError{Boundary: persistence.Compact, Err: cause}, persistence.ErrStorageFailed, "storage failed: "},
		{&persistence.CorruptError{Path: "/s/state.json", Cut: true, Err: cause}, io.ErrUnexpectedEOF, "/s/state.json is cut off"},
		{full(false), syscall.ENOSPC, "storage failed: cannot save /s/state.json: no space left on device; make room and start again"},
		{full(true), syscall.ENOSPC, "storage failed: /s/state.json is written, but may not survive a power cut: no space left"},
		{&persistence.ForeignSessionError{Path: "/s/state.json", Want: "other", Got: "chat"}, nil, `/s/state.json holds session "chat", not session "other": give --session chat, or another persistence.directory`},
		{&persistence.OtherFormatError{Path: "/s/state.json", Format: "json", Want: "sqlite"}, nil, "convert it with `simplex state import --config FILE --session ID`, or set persistence.format to json"},
		{&persistence.OtherFormatError{Path: "/s/state.db", Format: "sqlite", Want: "json"}, nil, "convert it with `simplex state export --config FILE --session ID`, or set persistence.format to sqlite"},
		{&persistence.CorruptError{Path: "/s/state.json", Err: io.EOF}, io.EOF, "/s/state.json cannot be read"},
	} {
		if tc.is != nil && !errors.Is(tc.err, tc.is) || !strings.Contains(tc.err.Error(), tc.words) {
			t.Errorf("%v", tc.err)
		}
	}
}
