package reference

import (
	"testing"

	"pgregory.net/rapid"

	"simplex/manager/protocol"
	"simplex/manager/record"
)

// Whatever characters a directory has, the reference is YAML with one key and comes
// back the same.
func TestReferenceOfAnyDirectory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\x00]{1,40}`).Filter(func(s string) bool {
			return s != "." && s != ".." && len(s) <= 255 && s != protocol.ManagerDirectory
		}).Draw(t, "component")
		r := &record.Record{AllocationID: "a", Directory: "/" + name + "/a", Nonce: "0123"}
		raw, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := Decode(raw)
		if err != nil || ref.Directory != r.Directory || ref.AllocationID != "a" || ref.Nonce != "0123" {
			t.Fatalf("%v: %+v from %q", err, ref, raw)
		}
		if !Is(raw) {
			t.Fatalf("not YAML with the key: %q", raw)
		}
	})
}

func FuzzReference(f *testing.F) {
	raw, err := Encode(&record.Record{AllocationID: "a", Directory: "/p/a", Nonce: "n"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(comment + `{"simplex_managed_allocation":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if ref, err := Decode(raw); err == nil && protocol.CheckDirectory(ref.Directory, ref.AllocationID) != "" {
			t.Errorf("accepted %+v", ref)
		}
	})
}
