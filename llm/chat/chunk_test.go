package chat

import (
	"encoding/json/jsontext"
	"testing"
)

// FuzzChunk checks that the decoder takes anything without a panic, and that what it
// accepts is JSON.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(`{"id":"a","choices":[{"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"function":{"arguments":{}}}]}}],"usage":{}}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":[{"text":"\ud800"}]}}]}`))
	f.Add([]byte(`{"choices":{"index":`))
	d := newDecoder()
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := d.decode(data)
		valid := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err == nil && (c == nil || !valid) {
			t.Errorf("accepted %q", data)
		}
		if err != nil && valid && jsontext.Value(data).Kind() == '{' {
			t.Errorf("refused %q: %v", data, err)
		}
	})
}
