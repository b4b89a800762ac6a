package persistence_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

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

func TestErrorsNameThePlaceAndKeepTheCause(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("at byte 9: %w", io.ErrUnexpectedEOF)
	for _, tc := range []struct {
		err   error
		is    error
		words string
	}{
		{&persistence.InUseError{Root: "/s/1", Holder: "process 8 (simplex)", Err: cause}, persistence.ErrInUse, "/s/1 is in use by process 8 (simplex)"},
		{&persistence.StorageFailedError{Boundary: persistence.Compact, Err: cause}, persistence.ErrStorageFailed, "storage failed at compact"},
		{&persistence.CorruptError{Path: "/s/state.json", Cut: true, Err: cause}, io.ErrUnexpectedEOF, "/s/state.json is cut off"},
		{&persistence.CorruptError{Path: "/s/state.json", Err: io.EOF}, io.EOF, "/s/state.json cannot be read"},
	} {
		if !errors.Is(tc.err, tc.is) || !strings.Contains(tc.err.Error(), tc.words) {
			t.Errorf("%v", tc.err)
		}
	}
}
