package manager

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

func TestRecordIsWrittenAndReadBack(t *testing.T) {
	t.Parallel()
	for _, st := range []status{statusPreparing, statusReady, statusRemoving, statusRetired} {
		raw, err := encodeRecord(recordIn(st))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(raw, []byte("\n")) != 1 || !bytes.HasSuffix(raw, []byte("\"}\n")) {
			t.Errorf("%s: not one line: %s", st, raw)
		}
		rec, err := decodeRecord(raw)
		if err != nil {
			t.Fatalf("%s: %v in %s", st, err, raw)
		}
		again, err := encodeRecord(rec)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%s: rewritten as %s, was %s", st, again, raw)
		}
		hidden := strings.Contains(string(raw), secret)
		if hidden != (st == statusPreparing || st == statusReady) {
			t.Errorf("%s: the secret is there: %v", st, hidden)
		}
	}
}

// A later program of the same record version may have added members. They survive a
// change, and end with the configuration.
func TestUnknownMembersAreKept(t *testing.T) {
	t.Parallel()
	raw, err := encodeRecord(recordIn(statusReady))
	if err != nil {
		t.Fatal(err)
	}
	body := raw[:bytes.LastIndex(raw, []byte(sumHead))]
	rec, err := decodeRecord(seal(append(bytes.Clone(body), `,"later":{"n":1.50,"s":"x"}`...)))
	if err != nil {
		t.Fatal(err)
	}
	changed, err := encodeRecord(rec.with(func(r *record) { r.Revision++ }))
	if err != nil || !bytes.Contains(changed, []byte(`"later":{"n":1.50,"s":"x"}`)) {
		t.Errorf("%v: %s", err, changed)
	}
	tombstone, err := encodeRecord(rec.removing().retired())
	if err != nil || bytes.Contains(tombstone, []byte("later")) {
		t.Errorf("%v: %s", err, tombstone)
	}
}

func TestDamagedRecordsAreTold(t *testing.T) {
	t.Parallel()
	raw, err := encodeRecord(recordIn(statusReady))
	if err != nil {
		t.Fatal(err)
	}
	for at := range raw {
		broken := bytes.Clone(raw)
		broken[at] ^= 1
		if _, err := decodeRecord(broken); !errors.Is(err, errRecord) && !errors.Is(err, errRecordVersion) {
			t.Fatalf("a flipped bit at %d: %v", at, err)
		}
		if _, err := decodeRecord(raw[:at]); !errors.Is(err, errRecord) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "list": "[]", "no version": "{}", "version as text": `{"version":"1"}`, "version 1.0": `{"version":1.0}`,
		"two versions": `{"version":1,"version":1}`, "trailing": string(raw) + "x", "no end of line": strings.TrimSuffix(string(raw), "\n"),
	} {
		if _, err := decodeRecord([]byte(text)); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{`{"version":2}`, `{"version":0,"x":1}`, `{"version":-1}`} {
		if _, err := decodeRecord([]byte(text)); !errors.Is(err, errRecordVersion) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, change := range map[string]func(*record){
		"ready without source": func(r *record) { r.Source = nil },
		"ready without nonce":  func(r *record) { r.Nonce = "" },
		"ready without root":   func(r *record) { r.Root = nil },
		"unknown status":       func(r *record) { r.Status = "sleeping" },
		"retired with secrets": func(r *record) { r.Status = statusRetired },
		"another name":         func(r *record) { r.AllocationID = "b" },
	} {
		raw, err := encodeRecord(recordIn(statusReady).with(change))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeRecord(raw); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRecord(f *testing.F) {
	for _, st := range []status{statusPreparing, statusReady, statusRemoving, statusRetired} {
		raw, err := encodeRecord(recordIn(st))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:bytes.LastIndex(raw, []byte(sumHead))])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = decodeRecord(body)
		rec, err := decodeRecord(seal(body))
		if err != nil {
			return
		}
		raw, err := encodeRecord(rec)
		if err != nil {
			t.Fatalf("a record that was read cannot be written: %v", err)
		}
		if again, err := decodeRecord(raw); err != nil || again.Status != rec.Status || again.Directory != rec.Directory {
			t.Fatalf("%v: %s", err, raw)
		}
	})
}

// Whatever characters a directory has, the reference is YAML with one key and comes
// back the same.
func TestReferenceOfAnyDirectory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\x00]{1,40}`).Filter(func(s string) bool {
			return s != "." && s != ".." && len(s) <= 255 && s != protocol.ManagerDirectory
		}).Draw(t, "component")
		r := &record{AllocationID: "a", Directory: "/" + name + "/a", Nonce: "0123"}
		raw, err := encodeReference(r)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := decodeReference(raw)
		if err != nil || ref.Directory != r.Directory || ref.AllocationID != "a" || ref.Nonce != "0123" {
			t.Fatalf("%v: %+v from %q", err, ref, raw)
		}
		if !isReference(raw) {
			t.Fatalf("not YAML with the key: %q", raw)
		}
	})
}

func FuzzReference(f *testing.F) {
	raw, err := encodeReference(recordIn(statusReady))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(referenceComment + `{"simplex_managed_allocation":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if ref, err := decodeReference(raw); err == nil && protocol.CheckDirectory(ref.Directory, ref.AllocationID) != "" {
			t.Errorf("accepted %+v", ref)
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
		r := &record{
			Version: recordVersion, AllocationID: rapid.String().Draw(t, "id"), Directory: rapid.String().Draw(t, "directory"),
			Status: status(rapid.String().Draw(t, "status")), Nonce: rapid.String().Draw(t, "nonce"), Revision: rapid.Uint64().Draw(t, "revision"),
			Source: maybe(t, "source"), Overrides: refresh(t, "overrides"), ForkRefresh: refresh(t, "fork refresh"),
		}
		if rapid.Bool().Draw(t, "more") {
			r.Root = &rootID{rapid.Uint64().Draw(t, "dev"), rapid.Uint64().Draw(t, "ino"), rapid.Int64().Draw(t, "born")}
			r.Startup = &startup{rapid.String().Draw(t, "lifecycle"), rapid.Uint64().Draw(t, "at"), jsontext.Value(object.Draw(t, "startup"))}
			r.ForkOrigin = &protocol.Source{AllocationID: "p", Directory: rapid.String().Draw(t, "parent"), LifecycleID: "l", Revision: 3}
			r.Derived = &document{Effective: jsontext.Value(object.Draw(t, "derived")), Backend: "json", State: rapid.String().Draw(t, "state"), Memory: "m"}
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
		var reference, back record
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
