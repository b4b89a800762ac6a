package protocol_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"simplex/manager/protocol"
)

const secret = "sk-never-to-be-quoted"

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// good is a prepare with everything that it may have; edits begin here.
const good = `{"version":1,"request_id":"r-1","operation":"prepare","allocation_id":"a","directory":"/srv/a",` +
	`"configuration":"k: sk-never-to-be-quoted","refresh":{"client_endpoint":"ws://h/"},"expected_revision":3}`

const fork = `{"version":1,"request_id":"r-1","operation":"clean_fork","allocation_id":"a","directory":"/srv/a",` +
	`"source":{"allocation_id":"p","directory":"/srv/p","lifecycle_id":"l","revision":1}}`

const capture = `{"version":1,"request_id":"r-1","operation":"capture_startup","allocation_id":"a","directory":"/srv/a","lifecycle_id":"l","expected_revision":1}`

const inspect = `{"version":1,"request_id":"r-1","operation":"inspect","allocation_id":"a","directory":"/srv/a"}`

// edit replaces one part of a request, which must be there.
func edit(text, old, replacement string) string {
	if strings.Count(text, old) != 1 {
		panic(old + " is not in there once")
	}
	return strings.Replace(text, old, replacement, 1)
}

type badRequest struct {
	name     string
	argument string
	code     protocol.Code
	id       string // echoed
}

func badBase64() []badRequest {
	const code = protocol.InvalidRequest
	padded := inspect
	for !strings.HasSuffix(encode(padded), "==") {
		padded += " "
	}
	return []badRequest{
		{"empty", "", code, ""},
		{"not the alphabet", "e30?", code, ""},
		{"URL alphabet", encode("{\"\xff\xff\xff")[:8] + "-_", code, ""},
		{"no padding", strings.TrimRight(encode(padded), "="), code, ""},
		{"too much padding", encode(padded) + "=", code, ""},
		{"data after padding", encode(padded) + "AAAA", code, ""},
		{"line end at the end", encode(inspect) + "\n", code, ""},
		{"line end inside", encode(inspect)[:8] + "\r\n" + encode(inspect)[8:], code, ""},
		{"blank", encode(inspect)[:8] + " " + encode(inspect)[8:], code, ""},
		{"tail bits", "e31=", code, ""},
		{"one character", "e", code, ""},
		{"NUL", "e30=\x00", code, ""},
	}
}

func badJSON() []badRequest {
	const code = protocol.InvalidRequest
	out := []badRequest{}
	for name, text := range map[string]string{
		"no text": " ", "invalid UTF-8": edit(inspect, "/srv/a", "/srv/\xff/a"), "byte order mark": "\ufeff" + inspect,
		"UTF-16": "{\x00}\x00", "lone surrogate": edit(good, "sk-never", `\ud800`), "lone low surrogate": edit(good, "sk-never", `\udc00x`),
		"duplicate member": edit(inspect, `"version":1`, `"version":1,"version":1`), "duplicate by escape": edit(inspect, `"version":1`, `"version":1,"versio\u006e":1`),
		"duplicate inside": edit(good, `"client_endpoint":"ws://h/"`, `"client_endpoint":"ws://h/","client_endpoint":"ws://h/"`),
		"trailing garbage": inspect + "x", "two objects": inspect + inspect, "trailing NUL": inspect + "\x00", "trailing comma": edit(inspect, `"/srv/a"`, `"/srv/a",`),
		"comment": inspect + " // x", "single quotes": "{'version':1}", "NaN": edit(inspect, `"version":1`, `"version":NaN`), "leading zero": edit(inspect, `"version":1`, `"version":01`),
		"plus": edit(inspect, `"version":1`, `"version":+1`), "half a number": edit(inspect, `"version":1`, `"version":1.`), "list": "[]", "text": `"x"`, "number": "1", "null": "null",
		"control character in a string": edit(inspect, "/srv/a", "/srv/\n/a"), "unfinished": inspect[:20],
	} {
		out = append(out, badRequest{name, encode(text), code, ""})
	}
	return out
}

func badEnvelopes() []badRequest {
	const code, id = protocol.InvalidRequest, "r-1"
	out := []badRequest{
		{"empty object", encode("{}"), code, ""},
		{"name in another case", encode(edit(inspect, `"version"`, `"Version"`)), code, id},
		{"unknown operation", encode(edit(inspect, "inspect", "explode")), protocol.UnsupportedOperation, id},
		{"operation in another case", encode(edit(inspect, "inspect", "INSPECT")), protocol.UnsupportedOperation, id},
		{"operation with a blank", encode(edit(inspect, "inspect", " inspect")), protocol.UnsupportedOperation, id},
		{"empty operation", encode(edit(inspect, "inspect", "")), protocol.UnsupportedOperation, id},
		{"operation as number", encode(edit(inspect, `"inspect"`, "7")), code, id},
		{"no request_id", encode(edit(inspect, `"request_id":"r-1",`, "")), code, ""},
	}
	for _, version := range []string{"0", "2", "-1", "-0", "9223372036854775808", "340282366920938463463374607431768211456"} {
		out = append(out, badRequest{"version " + version, encode(edit(inspect, `"version":1`, `"version":`+version)), protocol.UnsupportedVersion, id})
	}
	for _, version := range []string{`"1"`, "1.0", "1e0", "10e-1", "true", "null", "[]", "{}"} {
		out = append(out, badRequest{"version " + version, encode(edit(inspect, `"version":1`, `"version":`+version)), code, id})
	}
	for _, bad := range []string{`""`, `"` + strings.Repeat("x", 129) + `"`, `"a.b"`, `"a/b"`, `"a b"`, `"a\n"`, `"é"`, `"\u0661"`, "5", "null", `"\u0000"`} {
		out = append(out, badRequest{"request_id " + bad, encode(edit(inspect, `"r-1"`, bad)), code, ""})
	}
	for _, bad := range []string{`""`, `"` + strings.Repeat("x", 129) + `"`, `".."`, `"a.b"`, `"a/b"`, `"a\u0000"`, "5", "null"} {
		out = append(out, badRequest{"allocation_id " + bad, encode(edit(inspect, `"allocation_id":"a"`, `"allocation_id":`+bad)), code, id})
	}
	for _, bad := range []string{
		`""`, `"a"`, `"./a"`, `"~/a"`, `"/srv/a/"`, `"//a"`, `"/srv//a"`, `"/srv/./a"`, `"/srv/../a"`, `"/srv/a/.."`, `"/"`, `"/srv/b"`, `"C:\\a"`, `"/srv\u0000/a"`,
		`"/srv/.simplex-manager/a"`, `"/` + strings.Repeat("x", 256) + `/a"`, `"` + strings.Repeat("/xxxxxxx", 510) + `/a"`, "5", "null",
	} {
		name := bad
		if len(name) > 40 {
			name = fmt.Sprintf("of %d bytes", len(bad))
		}
		out = append(out, badRequest{"directory " + name, encode(edit(inspect, `"/srv/a"`, bad)), code, id})
	}
	return out
}

func badMembers() []badRequest {
	const code, id = protocol.InvalidRequest, "r-1"
	out := []badRequest{}
	add := func(name, text string) { out = append(out, badRequest{name, encode(text), code, id}) }
	add("unknown member", edit(inspect, `"version":1`, `"version":1,"x":1`))
	add("misspelt member", edit(good, "expected_revision", "expected_revison"))
	for member, value := range map[string]string{
		"configuration": `"a: 1"`, "refresh": "{}", "expected_revision": "1", "lifecycle_id": `"l"`,
		"source": `{"allocation_id":"p","directory":"/srv/p","lifecycle_id":"l","revision":1}`,
	} {
		add("inspect with "+member, edit(inspect, `"version":1`, fmt.Sprintf(`"version":1,%q:%s`, member, value)))
		for _, bad := range []string{"null", "true", "[]"} {
			base := map[string]string{"configuration": good, "refresh": good, "expected_revision": good, "lifecycle_id": capture, "source": fork}[member]
			add(member+" "+bad, replaceMember(base, member, bad))
		}
	}
	add("capture without lifecycle", edit(capture, `"lifecycle_id":"l",`, ""))
	add("capture without revision", edit(capture, `,"expected_revision":1`, ""))
	add("capture with configuration", edit(capture, `"version":1`, `"version":1,"configuration":""`))
	add("prepare with source", edit(good, `"version":1`, `"version":1,"source":{}`))
	add("fork without source", edit(inspect, "inspect", "clean_fork"))
	add("fork with configuration", edit(fork, `"version":1`, `"version":1,"configuration":""`))
	for _, bad := range []string{"-1", "-0", `"1"`, "1.5", "1.0", "1e2", "18446744073709551616"} {
		add("expected_revision "+bad, edit(good, `"expected_revision":3`, `"expected_revision":`+bad))
		add("source revision "+bad, edit(fork, `"revision":1`, `"revision":`+bad))
	}
	add("refresh with an unknown member", edit(good, `"client_endpoint"`, `"client"`))
	add("refresh with null", edit(good, `"ws://h/"`, "null"))
	add("refresh with a number", edit(good, `"ws://h/"`, "1"))
	add("bad lifecycle", edit(capture, `"l"`, `"a.b"`))
	add("source without lifecycle", edit(fork, `"lifecycle_id":"l",`, ""))
	add("source with an unknown member", edit(fork, `"revision":1`, `"revision":1,"x":1`))
	add("source with a bad identifier", edit(fork, `"allocation_id":"p"`, `"allocation_id":"p."`))
	add("source with a directory that is not its own", edit(fork, "/srv/p", "/srv/q"))
	add("source relative", edit(fork, "/srv/p", "p"))
	add("a fork onto itself", edit(edit(fork, `"allocation_id":"p"`, `"allocation_id":"a"`), "/srv/p", "/srv/a"))
	return out
}

// replaceMember gives the top-level member another value.
func replaceMember(text, member, value string) string {
	at := strings.Index(text, `"`+member+`":`) + len(member) + 3
	end, depth := at, 0
	for ; end < len(text); end++ {
		c := text[end]
		if c == '{' {
			depth++
		}
		if depth == 0 && (c == ',' || c == '}') {
			break
		}
		if c == '}' {
			depth--
		}
	}
	return text[:at] + value + text[end:]
}

func badRequests() []badRequest {
	out := append(badBase64(), badJSON()...)
	return append(append(out, badEnvelopes()...), badMembers()...)
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	all := badRequests()
	if len(all) < 60 {
		t.Errorf("only %d cases", len(all))
	}
	for _, c := range all {
		req, err := protocol.Decode(c.argument)
		if err == nil {
			t.Errorf("%s: accepted as %+v", c.name, req)
			continue
		}
		if err.Code != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
		if req.RequestID != c.id {
			t.Errorf("%s: request_id %q, want %q", c.name, req.RequestID, c.id)
		}
		if err.Published != nil {
			t.Errorf("%s: published is set", c.name)
		}
		if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "/srv") {
			t.Errorf("%s: the error quotes a value: %s", c.name, text)
		}
	}
	t.Logf("%d cases", len(all))
}

func TestGoodRequests(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"prepare": good, "fork": fork, "capture": capture, "inspect": inspect, "white space around": " \t\r\n" + inspect + "\n ",
		"escaped": edit(inspect, "inspect", `\u0069nspect`), "slash": edit(inspect, "/srv/a", `\/srv\/a`), "remove": edit(inspect, "inspect", "remove"),
		"read_state": edit(inspect, "inspect", "read_state"), "identifier of 128": edit(inspect, "r-1", strings.Repeat("x", 128)),
		"identifier with hyphens": edit(edit(inspect, `"a"`, `"-rf"`), "/srv/a", "/srv/-rf"), "odd directory": edit(inspect, "/srv/a", `/...\n'\" $(x);é/a`),
		"at the root": edit(inspect, "/srv/a", "/a"), "longest component": edit(inspect, "/srv", "/"+strings.Repeat("y", 255)),
		"largest revision": edit(good, ":3", ":18446744073709551615"), "revision 0": edit(good, ":3", ":0"), "no overrides": edit(good, `"client_endpoint":"ws://h/"`, ""),
		"a surrogate pair": edit(good, "sk-never", `\ud83d\ude00`), "prepare with nothing else": edit(inspect, "inspect", "prepare"),
	} {
		req, err := protocol.Decode(encode(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "prepare" && (*req.Configuration != "k: "+secret || *req.Refresh.ClientEndpoint != "ws://h/" || *req.ExpectedRevision != 3) {
			t.Errorf("%+v", req)
		}
	}
}
