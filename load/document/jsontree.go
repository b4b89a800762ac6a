package document

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ParseJSON makes a tree of a JSON document (a managed allocation's effective
// configuration). Its nodes have no lines. Numbers with a fraction or an exponent are
// no integers, as in YAML. Duplicate names, invalid UTF-8, nesting beyond 256 and text
// after the document are errors. Every error is an *Error without any of the text.
func ParseJSON(name string, raw []byte) (*Tree, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	root, err := jsonNode(dec, 1)
	if err == nil {
		if _, end := dec.ReadToken(); !errors.Is(end, io.EOF) {
			err = errors.New("text after the JSON document")
		}
	}
	switch {
	case err != nil:
		return nil, &Error{File: name, Message: jsonReason(err, dec.InputOffset())}
	case root.Kind != KindMapping:
		return nil, &Error{File: name, Message: "the document must be a mapping, not " + root.Kind.String()}
	}
	return &Tree{Name: name, Root: root}, nil
}

// jsonReason says what is wrong without quoting the document.
func jsonReason(err error, offset int64) string {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Sprintf("is not valid JSON at byte %d", syntactic.ByteOffset)
	}
	return fmt.Sprintf("%v (byte %d)", err, offset)
}

func jsonNode(dec *jsontext.Decoder, depth int) (*Node, error) {
	if depth > maxDepth+1 {
		return nil, fmt.Errorf("is nested deeper than %d levels", maxDepth)
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case jsontext.KindBeginObject:
		return jsonMapping(dec, depth)
	case jsontext.KindBeginArray:
		n := &Node{Kind: KindSequence}
		for dec.PeekKind() != jsontext.KindEndArray {
			item, err := jsonNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		_, err := dec.ReadToken()
		return n, err
	case jsontext.KindString:
		return &Node{Kind: KindString, Text: tok.String()}, nil
	case jsontext.KindNumber:
		n := &Node{Kind: KindInt, Text: tok.String()}
		if strings.ContainsAny(n.Text, ".eE") {
			n.Kind = KindFloat
		}
		return n, nil
	case jsontext.KindNull:
		return &Node{Kind: KindNull, Text: "null"}, nil
	default:
		return &Node{Kind: KindBool, Text: tok.String()}, nil
	}
}

func jsonMapping(dec *jsontext.Decoder, depth int) (*Node, error) {
	n := &Node{Kind: KindMapping}
	for dec.PeekKind() != jsontext.KindEndObject {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := tok.String()
		value, err := jsonNode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{Name: name, Value: value})
	}
	_, err := dec.ReadToken()
	return n, err
}
