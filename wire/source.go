package wire

import (
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"strconv"
)

// AnswerSource names one answer beyond doubt: a page request with it gets that answer or
// an error, never another one (wire.md §6).
type AnswerSource struct {
	WorkerID       string   `json:"worker_id"`
	Turn           uint64   `json:"turn"`
	Step           uint64   `json:"step"`
	CommitSequence Sequence `json:"commit_sequence"`
	Fingerprint    string   `json:"fingerprint"` // 64 lowercase hex digits
}

// Sequence is a uint64 that is a decimal string on the wire.
type Sequence uint64

// MarshalJSONTo writes the decimal string.
func (s Sequence) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.String(strconv.FormatUint(uint64(s), 10)))
}

// ParseAnswerSource reads a source: exactly its five members.
func ParseAnswerSource(raw jsontext.Value) (AnswerSource, error) {
	var out AnswerSource
	if raw == nil {
		return out, errors.New("missing")
	}
	f, err := readFields(raw)
	if err != nil {
		return out, err
	}
	if err := onlyKeys(f, "worker_id", "turn", "step", "commit_sequence", "fingerprint"); err != nil {
		return out, err
	}
	if out.WorkerID, _ = f.text("worker_id"); out.WorkerID == "" || len(out.WorkerID) > MaxID {
		return out, errors.New("worker_id: must be a string of 1 to 128 bytes")
	}
	if out.Turn, err = requiredCount(f, "turn"); err != nil {
		return out, err
	}
	if out.Step, err = requiredCount(f, "step"); err != nil {
		return out, err
	}
	if out.CommitSequence, err = readSequence(f); err != nil {
		return out, err
	}
	if out.Fingerprint, _ = f.text("fingerprint"); !isFingerprint(out.Fingerprint) {
		return out, errors.New("fingerprint: must be 64 lowercase hex digits")
	}
	return out, nil
}

func readSequence(f fields) (Sequence, error) {
	s, _ := f.text("commit_sequence")
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || s[0] < '1' || s[0] > '9' {
		return 0, errors.New("commit_sequence: must be a decimal string without leading zero")
	}
	return Sequence(n), nil
}

func isFingerprint(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'F' {
			return false
		}
	}
	_, err := hex.DecodeString(s)
	return err == nil
}
