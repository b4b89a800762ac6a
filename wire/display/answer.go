package display

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"strconv"

	"simplex/internal/text"
	"simplex/state"
	"simplex/wire"
)

// Fingerprint is the SHA-256 of an answer's parts (worker-data.md §8.1), in lowercase hex.
func Fingerprint(content []state.Content) string {
	h := sha256.New()
	buf := make([]byte, 0, 4096)
	for i := range content {
		c := &content[i]
		buf = strconv.AppendInt(append(buf[:0], `{"bytes":`...), int64(len(c.Raw)), 10)
		buf = wire.AppendString(append(buf, `,"modality":`...), string(c.Modality))
		buf = wire.AppendString(append(buf, `,"type":`...), string(c.Type))
		h.Write(append(buf, '}'))
		writeString(h, c.Raw, buf[:cap(buf)])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeString hashes s by way of buf, so that a large answer is not copied as a whole.
func writeString(h hash.Hash, s string, buf []byte) {
	for len(s) > 0 {
		n := copy(buf, s)
		h.Write(buf[:n])
		s = s[n:]
	}
}

// Source names the answer of a committed step.
func Source(workerID string, turn, step uint64, s *state.Step) wire.AnswerSource {
	return wire.AnswerSource{
		WorkerID:       workerID,
		Turn:           turn,
		Step:           step,
		CommitSequence: wire.Sequence(s.CommitSequence),
		Fingerprint:    Fingerprint(s.ModelResponse.Content),
	}
}

// Errors of Answer.
var (
	ErrNoPart     = errors.New("the answer has no such part")
	ErrBinaryPart = errors.New("a binary part is not available as an answer page")
	ErrBadOffset  = errors.New("the offset is not at a character of the part")
)

// Answer cuts one page out of an answer whose source was found to be the one asked for.
// The page ends between characters and is never empty unless the part is.
func Answer(content []state.Content, requestID string, req *wire.AnswerRequest) (wire.AnswerData, error) {
	if req.Part >= uint64(len(content)) {
		return wire.AnswerData{}, ErrNoPart
	}
	c := &content[req.Part]
	if c.Type == state.TypeBinary {
		return wire.AnswerData{}, ErrBinaryPart
	}
	if req.Offset > uint64(len(c.Raw)) || len(text.Prefix(c.Raw, int(req.Offset))) != int(req.Offset) {
		return wire.AnswerData{}, ErrBadOffset
	}
	raw := text.Prefix(c.Raw[req.Offset:], wire.AnswerPage)
	page := wire.AnswerData{
		RequestID: requestID, Source: req.Source, Part: req.Part, Offset: req.Offset,
		Raw: raw, Type: c.Type, Modality: c.Modality, Bytes: uint64(len(c.Raw)),
		NextOffset: req.Offset + uint64(len(raw)), NextPart: req.Part,
		TotalParts: uint64(len(content)),
	}
	if page.NextOffset == page.Bytes {
		page.NextPart++
		page.Done = page.NextPart == page.TotalParts
	}
	return page, nil
}
