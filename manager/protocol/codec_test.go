package protocol_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json/jsontext"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"simplex/manager/protocol"
)

func drawID(t *rapid.T, label string) string {
	return rapid.StringMatching(`[A-Za-z0-9_-]{1,128}`).Draw(t, label)
}

func drawDirectory(t *rapid.T, id string) string {
	parts := rapid.SliceOfN(rapid.String().Filter(func(s string) bool {
		return s != "" && s != "." && s != ".." && s != protocol.ManagerDirectory && len(s) <= 255 && !strings.ContainsAny(s, "/\x00")
	}), 0, 4).Draw(t, "components")
	return "/" + filepath.Join(append(parts, id)...)
}

func drawRefresh(t *rapid.T) *protocol.Refresh {
	text := rapid.Ptr(rapid.String(), true)
	return &protocol.Refresh{ClientEndpoint: text.Draw(t, "client"), ConfirmationEndpoint: text.Draw(t, "confirmation"), ToolsEndpoint: text.Draw(t, "tools")}
}

func drawRequest(t *rapid.T) *protocol.Request {
	req := &protocol.Request{RequestID: drawID(t, "request"), AllocationID: drawID(t, "allocation")}
	req.Directory = drawDirectory(t, req.AllocationID)
	req.Operation = rapid.SampledFrom([]protocol.Operation{
		protocol.Prepare, protocol.Inspect, protocol.CaptureStartup, protocol.CleanFork, protocol.ReadState, protocol.Remove,
	}).Draw(t, "operation")
	revision := rapid.Ptr(rapid.Uint64(), true)
	switch req.Operation {
	case protocol.Prepare:
		req.Configuration = rapid.Ptr(rapid.String(), true).Draw(t, "configuration")
		req.ExpectedRevision = revision.Draw(t, "revision")
	case protocol.CaptureStartup:
		req.LifecycleID, req.ExpectedRevision = new(drawID(t, "lifecycle")), new(rapid.Uint64().Draw(t, "revision"))
	case protocol.CleanFork:
		id := drawID(t, "parent")
		req.Source = &protocol.Source{AllocationID: id, Directory: drawDirectory(t, id), LifecycleID: drawID(t, "lifecycle"), Revision: rapid.Uint64().Draw(t, "revision")}
	}
	if (req.Operation == protocol.Prepare || req.Operation == protocol.CleanFork) && rapid.Bool().Draw(t, "refresh") {
		req.Refresh = drawRefresh(t)
	}
	return req
}

func TestEncodeThenDecodeIsTheIdentity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		argument, err := req.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, failure := protocol.Decode(argument)
		if req.Source != nil && req.Source.Directory == req.Directory {
			return // a fork onto itself
		}
		if failure != nil {
			t.Fatalf("%v for %+v", failure, req)
		}
		if diff := cmp.Diff(req, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, c := range badRequests() {
		if raw, err := base64.StdEncoding.DecodeString(c.argument); err == nil {
			f.Add(raw)
		}
	}
	f.Add([]byte(good))
	f.Add([]byte(fork))
	f.Add([]byte(capture))
	f.Fuzz(func(t *testing.T, raw []byte) {
		req, failure := protocol.Decode(base64.StdEncoding.EncodeToString(raw))
		if failure != nil {
			if req == nil || req.RequestID != "" && !protocol.ValidID(req.RequestID) {
				t.Fatalf("%+v", req)
			}
			return
		}
		if req.Directory != filepath.Clean(req.Directory) || !filepath.IsAbs(req.Directory) || filepath.Base(req.Directory) != req.AllocationID {
			t.Fatalf("directory %q of %q", req.Directory, req.AllocationID)
		}
		argument, err := req.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, failure := protocol.Decode(argument)
		if failure != nil {
			t.Fatalf("%v for what it encoded", failure)
		}
		if diff := cmp.Diff(req, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzBase64(f *testing.F) {
	for _, c := range badBase64() {
		f.Add(c.argument)
	}
	f.Add(encode(inspect))
	f.Fuzz(func(t *testing.T, argument string) {
		raw, err := base64.StdEncoding.DecodeString(argument)
		_, failure := protocol.Decode(argument)
		if failure == nil && (err != nil || base64.StdEncoding.EncodeToString(raw) != argument) {
			t.Fatalf("accepted %q", argument)
		}
	})
}

func TestResponses(t *testing.T) {
	t.Parallel()
	ok := string(protocol.AppendResult(nil, "r", jsontext.Value(`{"a":1}`)))
	if ok != `{"version":1,"request_id":"r","ok":true,"result":{"a":1}}`+"\n" {
		t.Errorf("%s", ok)
	}
	var b bytes.Buffer
	err := protocol.WriteResult(&b, "r", func(w io.Writer) error { _, err := io.WriteString(w, `{"a":1}`); return err })
	if err != nil || b.String() != ok {
		t.Errorf("%v: %s", err, b.String())
	}
	stop := errors.New("stop")
	if err := protocol.WriteResult(io.Discard, "r", func(io.Writer) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	result, err := protocol.DecodeResponse([]byte(ok), "r")
	if err != nil || string(result) != `{"a":1}` {
		t.Errorf("%v: %s", err, result)
	}
	busy := protocol.AppendError(nil, "", protocol.NewError(protocol.Busy, "held by \"x\"\n\xff"))
	want := `{"version":1,"request_id":null,"ok":false,"error":{"code":"busy","message":"held by \"x\"\n` + "\ufffd" + `","published":false}}` + "\n"
	if string(busy) != want {
		t.Errorf("%s", busy)
	}
	_, err = protocol.DecodeResponse(busy, "r")
	failure, isError := errors.AsType[*protocol.Error](err)
	if !isError || failure.Code != protocol.Busy || failure.Published == nil || *failure.Published {
		t.Errorf("%v", err)
	}
}

// Whatever is not one response to this request leaves the outcome unknown.
func TestBadResponses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "banner": "Welcome!\n" + `{"version":1,"request_id":"r","ok":true,"result":{}}`, "cut": `{"version":1,"request_id":"r","ok":true,"result":{}`,
		"two":             `{"version":1,"request_id":"r","ok":true,"result":{}}{"version":1,"request_id":"r","ok":true,"result":{}}`,
		"another request": `{"version":1,"request_id":"s","ok":true,"result":{}}`, "null for a success": `{"version":1,"request_id":null,"ok":true,"result":{}}`,
		"another request failed": `{"version":1,"request_id":"s","ok":false,"error":{"code":"busy","message":""}}`,
		"version 2":              `{"version":2,"request_id":"r","ok":true,"result":{}}`, "no version": `{"request_id":"r","ok":true,"result":{}}`,
		"ok as text": `{"version":1,"request_id":"r","ok":"true","result":{}}`, "no result": `{"version":1,"request_id":"r","ok":true}`,
		"result is a list": `{"version":1,"request_id":"r","ok":true,"result":[]}`, "both": `{"version":1,"request_id":"r","ok":true,"result":{},"error":{"code":"busy","message":""}}`,
		"no error": `{"version":1,"request_id":"r","ok":false}`, "no code": `{"version":1,"request_id":"r","ok":false,"error":{"message":""}}`,
		"published as text": `{"version":1,"request_id":"r","ok":false,"error":{"code":"busy","message":"","published":"no"}}`,
		"error as text":     `{"version":1,"request_id":"r","ok":false,"error":"busy"}`, "no id": `{"version":1,"ok":false,"error":{"code":"busy","message":""}}`,
	} {
		if _, err := protocol.DecodeResponse([]byte(text), "r"); !errors.Is(err, protocol.ErrResponse) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"version":1,"request_id":"r","ok":true,"result":{"a":1}}`))
	f.Add([]byte(`{"version":1,"request_id":null,"ok":false,"error":{"code":"busy","message":"m","published":false}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		result, err := protocol.DecodeResponse(raw, "r")
		if (err == nil) != (result != nil) {
			t.Fatalf("%s, %v", result, err)
		}
	})
}
