//go:build crash

package crashworker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"simplex/persistence"
	"simplex/persistence/jsonstore"
	"simplex/persistence/sqlitestore"
	"simplex/persistence/storetest"
	"simplex/state"
)

// driverVariable names the format of the store that this process drives.
const driverVariable = "CRASHWORKER_DRIVER"

// leaveVariable lets the driver end without closing its store.
const leaveVariable = "CRASHWORKER_LEAVE"

func open(format, root, session string) (persistence.Store, error) {
	if format == jsonstore.Format {
		return jsonstore.Open(jsonstore.Config{Root: root, SessionID: session})
	}
	return sqlitestore.Open(sqlitestore.Config{Root: root, SessionID: session})
}

// drive loads the session below root and saves that many turns, each at two boundaries.
// Each acknowledged save is a line on standard output, which is on no disk.
func drive(format, root, turns string) int {
	n, err := strconv.Atoi(turns)
	if err == nil {
		left := 2 * n
		err = saveTurns(format, root, n, func() error {
			_, err := os.Stdout.WriteString("saved\n")
			if left--; left == 0 && os.Getenv(leaveVariable) != "" {
				os.Exit(0)
			}
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func saveTurns(format, root string, turns int, acknowledge func() error) (err error) {
	store, err := open(format, root, storetest.SessionID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ctx := context.Background()
	st, err := store.Load(ctx)
	if err != nil {
		return err
	}
	if st == nil {
		st = storetest.Session(0)
	}
	for range turns {
		for _, edit := range edits(st) {
			boundary := edit()
			if err := store.Save(ctx, st.Clone(), boundary); err != nil {
				return err
			}
			if err := acknowledge(); err != nil {
				return err
			}
		}
	}
	return nil
}

// edits are those between the saves of one more turn.
func edits(st *state.State) []func() persistence.Boundary {
	return []func() persistence.Boundary{
		func() persistence.Boundary {
			storetest.AddTurn(st, fmt.Sprintf("turn %d", len(st.Turns)))
			return persistence.StepFinished
		},
		func() persistence.Boundary {
			st.AppendStep(&state.Step{ModelResponse: state.NewTextMessage(state.ModelResponse, "assistant", "more")})
			return persistence.RunFinished
		},
	}
}

// documents are the session with that many turns before, then as each save of the driver
// leaves it.
func documents(before, turns int) []string {
	st := storetest.Session(0)
	for range before {
		for _, edit := range edits(st) {
			edit()
		}
	}
	out := []string{text(st)}
	for range turns {
		for _, edit := range edits(st) {
			edit()
			out = append(out, text(st))
		}
	}
	return out
}

func text(st *state.State) string {
	var b bytes.Buffer
	if err := state.Encode(&b, st); err != nil {
		panic(err) // a mistake of the test
	}
	return b.String()
}

// held opens the session as the next owner does and gives its document; "" for none.
func held(format, root, session string) (doc string, err error) {
	store, err := open(format, root, session)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	st, err := store.Load(context.Background())
	if st == nil || err != nil {
		return "", err
	}
	return text(st), nil
}

func sessionRoot(mnt string) string { return filepath.Join(mnt, "session") }
