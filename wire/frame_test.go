package wire_test

import (
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"

	"simplex/wire"
)

func TestDecodeFrame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw  string
		want wire.Frame
	}{
		{
			`{"type":"payload","data":{"operation":"message","request_id":"r1"}}`,
			wire.Frame{
				Kind: wire.FramePayload, Operation: []byte(`"message"`), RequestID: []byte(`"r1"`),
				Data: []byte(`{"operation":"message","request_id":"r1"}`),
			},
		},
		{`{"data":{},"type":"signal"}`, wire.Frame{Kind: wire.FrameSignal, Data: []byte(`{}`)}},
		{
			" {\"x\":[1,{\"type\":2}],\n\"typ\\u0065\":\"signal\" , \"data\" : { \"operation\" : 7 } } ",
			wire.Frame{Kind: wire.FrameSignal, Operation: []byte(`7`), Data: []byte(`{ "operation" : 7 }`)},
		},
		{
			`{"type":"payload","data":{"a":{"operation":"no"},"op\u0065ration":"history"}}`,
			wire.Frame{
				Kind: wire.FramePayload, Operation: []byte(`"history"`),
				Data: []byte(`{"a":{"operation":"no"},"op\u0065ration":"history"}`),
			},
		},
	}
	for _, tt := range tests {
		got, err := wire.DecodeFrame([]byte(tt.raw))
		if err != nil {
			t.Errorf("%s: %v", tt.raw, err)
			continue
		}
		if got.Kind != tt.want.Kind || string(got.Data) != string(tt.want.Data) ||
			string(got.Operation) != string(tt.want.Operation) ||
			string(got.RequestID) != string(tt.want.RequestID) || got.Size != len(tt.raw) {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.raw, got, tt.want)
		}
	}
}

func TestDecodeFrameRefuses(t *testing.T) {
	t.Parallel()
	bad := []string{
		``, ` `, `x`, `nul`, `null`, `true`, `0`, `"payload"`, `[]`, `[{"type":"payload","data":{}}]`,
		`{`, `}`, `{}`, `{"type"}`, `{"type":}`, `{"type":"payload"`, `{"type":"payload",}`,
		`{"type":"payload"}`, `{"data":{}}`, `{"type":"payload","data":{}`, `{"type":"payload","data":{}}}`,
		`{"type":"payload","data":{}} {}`, `{"type":"payload","data":{}},`, `{"type":"payload","data":null}`,
		`{"type":"payload","data":[]}`, `{"type":"payload","data":"{}"}`, `{"type":"payload","data":1}`,
		`{"type":"payload","data":true}`, `{"type":null,"data":{}}`, `{"type":1,"data":{}}`,
		`{"type":"","data":{}}`, `{"type":"Payload","data":{}}`, `{"type":"payload ","data":{}}`,
		`{"type":"event","data":{}}`, `{"Type":"payload","data":{}}`, `{"type":["payload"],"data":{}}`,
		`{"type":"payload","type":"payload","data":{}}`, `{"type":"payload","data":{},"data":{}}`,
		`{"type":"payload","data":{"a":01}}`,
		`{"type":"payload","data":{"a":.5}}`, `{"type":"payload","data":{"a":NaN}}`,
		`{"type":"payload","data":{'a':1}}`, `{"type":"payload","data":{"a":"\x"}}`,
		"{\"type\":\"payload\",\"data\":{\"a\":\"\xff\"}}",
		"{\"type\":\"payload\",\"data\":{\"a\":\"\n\"}}", "\ufeff{\"type\":\"payload\",\"data\":{}}",
		`{"type":"payload","data":{}/**/}`, `{"type":"payload","data":{"a":1,}}`,
		`{"type":"payload","data":{"a":[1,]}}`, `{"type":"payload","data":{},"x":}`,
		"{\"type\":\"payload\",\"data\":{}}\x00",
		`{"type":"payload","data":` + strings.Repeat(`{"a":`, 20000),
		`{"type":"payload","data":` + strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20001),
	}
	for _, raw := range bad {
		_, err := wire.DecodeFrame([]byte(raw))
		if _, ok := errors.AsType[*wire.FrameError](err); !ok {
			t.Errorf("%.80q: got %v, want a *FrameError", raw, err)
		}
	}
	if len(bad) < 50 {
		t.Errorf("only %d bad frames", len(bad))
	}
}

// A decoder is used again and again; what one frame gave must not change with the next.
func TestFrameDecoderReuse(t *testing.T) {
	t.Parallel()
	var d wire.FrameDecoder
	first, err := d.Decode([]byte(`{"type":"payload","data":{"operation":"message","request_id":"one"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decode([]byte(`{"type":"payload"`)); err == nil {
		t.Fatal("a broken frame was accepted")
	}
	if _, err := d.Decode([]byte(`{"type":"signal","data":{"operation":"status","request_id":"two"}}`)); err != nil {
		t.Fatal(err)
	}
	if first.Op() != wire.OpMessage || string(first.RequestID) != `"one"` {
		t.Errorf("first frame changed: %+v", first)
	}
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add([]byte(`{"type":"payload","data":{"operation":"message","request_id":"r"}}`))
	f.Add([]byte(`{"type":"signal","data":{"operation":"cancel","run_id":"x"},"extra":[1]}`))
	f.Add([]byte(`{"type":"payload","data":{"operation":"answer","request_id":"r","source":{},"part":0,"offset":0}}`))
	f.Add([]byte(`{"type":"payload","data":{"operation":"answer","request_id":"r","source":{},"part":0,"part":1}}`)) // its sender is answered
	f.Fuzz(func(t *testing.T, raw []byte) {
		frame, err := wire.DecodeFrame(raw)
		if err != nil {
			return
		}
		if !frame.Data.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) || frame.Data.Kind() != '{' {
			t.Fatalf("data is no object: %q", frame.Data)
		}
		if frame.Kind == wire.FrameSignal {
			_, _ = wire.DecodeSignal(frame.Data)
			return
		}
		input, rejected := wire.DecodeInput(frame.Data)
		if (input == nil) == (rejected == nil) {
			t.Fatal("neither or both of input and rejection")
		}
		query, failed := wire.DecodeQuery(frame.Data)
		if (query == nil) == (failed == nil) {
			t.Fatal("neither or both of query and failure")
		}
		for _, data := range []any{rejected, failed} {
			if out, err := wire.EncodeData(data); err != nil || len(out) > 2*wire.MaxNotice+1024 {
				t.Fatalf("%d bytes, %v", len(out), err)
			}
		}
	})
}

// A browser writes half of a cut character as an escape. That is no junk frame: the
// payload is refused with an answer.
func TestHalfACharacterIsRefusedNotFatal(t *testing.T) {
	f, err := wire.DecodeFrame([]byte(`{"type":"payload","data":{"operation":"message","request_id":"r1","content":[{"type":"text","modality":"text","raw":"\ud83d"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(f.RequestID) != `"r1"` {
		t.Errorf("request_id %s", f.RequestID)
	}
	if _, rejected := wire.DecodeInput(f.Data); rejected == nil {
		t.Error("half a character was admitted")
	}
}

// A name that is there twice inside the data is answered: it is one bad input, and no
// reason to end a worker.
func TestDuplicateNamesAreAnswered(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"operation":"message","request_id":"q","content":[],"content":[]}`,
		`{"operation":"message","request_id":"q","content":[{"type":"text","modality":"text","raw":"x","extras":{"a":1,"a":2}}]}`,
	} {
		f, err := wire.DecodeFrame([]byte(`{"type":"payload","data":` + data + `}`))
		if err != nil {
			t.Errorf("%s: %v", data, err)
			continue
		}
		if _, rejected := wire.DecodeInput(f.Data); rejected == nil {
			t.Errorf("%s: admitted", data)
		}
	}
	f, err := wire.DecodeFrame([]byte(`{"type":"signal","data":{"operation":"status","operation":"status"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wire.DecodeSignal(f.Data); err == nil {
		t.Error("the signal is taken")
	}
}
