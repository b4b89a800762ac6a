package client

import (
	"bytes"
	"encoding/json/jsontext"
	"strconv"
)

// Methods that are sent.
const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodListTools   = "tools/list"
	methodCallTool    = "tools/call"
	methodCancelled   = "notifications/cancelled"
)

// request encodes a request as a line; params are JSON without line ends, taken over
// byte for byte.
func request(id int64, method string, params []byte) []byte {
	line := make([]byte, 0, len(params)+96)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = strconv.AppendInt(line, id, 10)
	return called(line, method, params)
}

// notification encodes a notification as a line; params as for request, or nil.
func notification(method string, params []byte) []byte {
	return called([]byte(`{"jsonrpc":"2.0"`), method, params)
}

// called puts the method and its parameters behind the head of a message.
func called(line []byte, method string, params []byte) []byte {
	line = append(line, `,"method":"`...)
	line = append(line, method...) // one of the constants: nothing in it needs an escape
	line = append(line, '"')
	if params != nil {
		line = append(line, `,"params":`...)
		line = append(line, params...)
	}
	return append(line, '}', '\n')
}

// cancelled tells the server that nobody waits for a request any more.
func cancelled(id int64, reason string) []byte {
	params := strconv.AppendInt([]byte(`{"requestId":`), id, 10)
	params = append(params, `,"reason":`...)
	params = append(params, quote(reason)...)
	return notification(methodCancelled, append(params, '}'))
}

// answer encodes the answer to a request of the server, without a line end: all that is
// answered with good is ping.
func answer(id jsontext.Value, method string) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	if method == "ping" {
		return append(out, `,"result":{}}`...)
	}
	return append(out, `,"error":{"code":-32601,"message":"this client does not offer the method"}}`...)
}

// answers makes one line of the answers to the requests of one line, which are an array
// if the requests were one.
func answers(list [][]byte, array bool) []byte {
	line := bytes.Join(list, []byte{','})
	if array {
		line = append(append([]byte{'['}, line...), ']')
	}
	return append(line, '\n')
}
