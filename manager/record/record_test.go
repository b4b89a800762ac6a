package record

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/manager/protocol"
)

// secret is planted in every configuration: it must go with it.
const secret = "sk-never-to-be-seen-4711"

// recordIn is a record of each status, with a capture by the lifecycle "life".
func recordIn(st Status) *Record {
	r := &Record{
		Version: 1, AllocationID: "a", Directory: "/p/a", Status: st, Nonce: "n", Revision: 1,
		Source: new("# " + secret + "\nclient: {endpoint: 'ws://old/'}\n"), Overrides: &protocol.Refresh{ClientEndpoint: new("ws://old/")},
	}
	switch st {
	case Ready:
		effective := jsontext.Value(`{"client":{"endpoint":"ws://old/"},"key":"` + secret + `","persistence":{"directory":"/p/a"}}`)
		r.Derived = &Document{Effective: effective, Backend: "json", State: "state", Memory: "memory"}
		r.Root = &RootID{1, 2, 3}
		r.Startup = &Startup{"life", 1, effective}
	case Removing:
		return r.Removing()
	case Retired:
		return r.Retired()
	}
	return r
}

func TestRecordIsWrittenAndReadBack(t *testing.T) {
	t.Parallel()
	for _, st := range []Status{Preparing, Ready, Removing, Retired} {
		raw, err := Encode(recordIn(st))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(raw, []byte("\n")) != 1 || !bytes.HasSuffix(raw, []byte("\"}\n")) {
			t.Errorf("%s: not one line: %s", st, raw)
		}
		rec, err := Decode(raw)
		if err != nil {
			t.Fatalf("%s: %v in %s", st, err, raw)
		}
		again, err := Encode(rec)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%s: rewritten as %s, was %s", st, again, raw)
		}
		hidden := strings.Contains(string(raw), secret)
		if hidden != (st == Preparing || st == Ready) {
			t.Errorf("%s: the secret is there: %v", st, hidden)
		}
	}
}

// A later program of the same record version may have added members. They survive a
// change, and end with the configuration.
func TestUnknownMembersAreKept(t *testing.T) {
	t.Parallel()
	raw, err := Encode(recordIn(Ready))
	if err != nil {
		t.Fatal(err)
	}
	body := raw[:bytes.LastIndex(raw, []byte(sumHead))]
	rec, err := Decode(seal(append(bytes.Clone(body), `,"later":{"n":1.50,"s":"x"}`...)))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := Encode(rec.With(func(r *Record) { r.Revision++ }))
	if err != nil || !bytes.Contains(changed, []byte(`"later":{"n":1.50,"s":"x"}`)) {
		t.Errorf("%v: %s", err, changed)
	}
	tombstone, err := Encode(rec.Removing().Retired())
	if err != nil || bytes.Contains(tombstone, []byte("later")) {
		t.Errorf("%v: %s", err, tombstone)
	}
}

func TestDamagedRecordsAreTold(t *testing.T) {
	t.Parallel()
	raw, err := Encode(recordIn(Ready))
	if err != nil {
		t.Fatal(err)
	}
	for at := range raw {
		broken := bytes.Clone(raw)
		broken[at] ^= 1
		if _, err := Decode(broken); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
			t.Fatalf("a flipped bit at %d: %v", at, err)
		}
		if _, err := Decode(raw[:at]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "list": "[]", "no version": "{}", "version as text": `{"version":"1"}`, "version 1.0": `{"version":1.0}`,
		"two versions": `{"version":1,"version":1}`, "trailing": string(raw) + "x", "no end of line": strings.TrimSuffix(string(raw), "\n"),
	} {
		if _, err := Decode([]byte(text)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{`{"version":2}`, `{"version":0,"x":1}`, `{"version":-1}`} {
		if _, err := Decode([]byte(text)); !errors.Is(err, ErrVersion) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, change := range map[string]func(*Record){
		"ready without source": func(r *Record) { r.Source = nil },
		"ready without nonce":  func(r *Record) { r.Nonce = "" },
		"ready without root":   func(r *Record) { r.Root = nil },
		"unknown status":       func(r *Record) { r.Status = "sleeping" },
		"retired with secrets": func(r *Record) { r.Status = Retired },
		"another name":         func(r *Record) { r.AllocationID = "b" },
	} {
		raw, err := Encode(recordIn(Ready).With(change))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(raw); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRecord(f *testing.F) {
	for _, st := range []Status{Preparing, Ready, Removing, Retired} {
		raw, err := Encode(recordIn(st))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:bytes.LastIndex(raw, []byte(sumHead))])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = Decode(body)
		rec, err := Decode(seal(body))
		if err != nil {
			return
		}
		raw, err := Encode(rec)
		if err != nil {
			t.Fatalf("a record that was read cannot be written: %v", err)
		}
		if again, err := Decode(raw); err != nil || again.Status != rec.Status || again.Directory != rec.Directory {
			t.Fatalf("%v: %s", err, raw)
		}
	})
}

// What is written and read by hand is what encoding/json makes of the tags.
func TestRecordAsTheTagsSay(t *testing.T) {
	t.Parallel()
	maybe := func(t *rapid.T, label string) *string {
		return rapid.Ptr(rapid.String(), true).Draw(t, label)
	}
	refresh := func(t *rapid.T, label string) *protocol.Refresh {
		if rapid.Bool().Draw(t, label) {
			return nil
		}
		return &protocol.Refresh{ClientEndpoint: maybe(t, label+"c"), ConfirmationEndpoint: maybe(t, label+"f"), ToolsEndpoint: maybe(t, label+"t")}
	}
	object := rapid.SampledFrom([]string{`{}`, `{"a":{"b":[1.50,null,"é"]}}`})
	rapid.Check(t, func(t *rapid.T) {
		r := &Record{
			Version: Version, AllocationID: rapid.String().Draw(t, "id"), Directory: rapid.String().Draw(t, "directory"),
			Status: Status(rapid.String().Draw(t, "status")), Nonce: rapid.String().Draw(t, "nonce"), Revision: rapid.Uint64().Draw(t, "revision"),
			Source: maybe(t, "source"), Overrides: refresh(t, "overrides"), ForkRefresh: refresh(t, "fork refresh"),
		}
		if rapid.Bool().Draw(t, "more") {
			r.Root = &RootID{rapid.Uint64().Draw(t, "dev"), rapid.Uint64().Draw(t, "ino"), rapid.Int64().Draw(t, "born")}
			r.Startup = &Startup{rapid.String().Draw(t, "lifecycle"), rapid.Uint64().Draw(t, "at"), jsontext.Value(object.Draw(t, "startup"))}
			r.ForkOrigin = &protocol.Source{AllocationID: "p", Directory: rapid.String().Draw(t, "parent"), LifecycleID: "l", Revision: 3}
			r.Derived = &Document{Effective: jsontext.Value(object.Draw(t, "derived")), Backend: "json", State: rapid.String().Draw(t, "state"), Memory: "m"}
			r.Unknown = jsontext.Value(`{"later":[1.50,{"x":null}],"é":"\n"}`)
		}
		want, err := json.Marshal(r)
		if err != nil {
			t.Skip("no UTF-8")
		}
		got, err := r.marshal()
		if err != nil || string(got)+"}" != string(want) {
			t.Fatalf("%v: %s}, want %s", err, got, want)
		}
		var reference, back Record
		if err := json.Unmarshal(want, &reference); err != nil {
			t.Fatal(err)
		}
		if err := back.unmarshal(want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(reference, back); diff != "" {
			t.Fatal(diff)
		}
	})
}
