package client

import "encoding/json/jsontext"

// Tool is what a server says of one of its tools, less what nobody here would believe
// or use. Members that are absent or null are zero.
type Tool struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"` // as it was sent
}

// Result is what a tool answered.
type Result struct {
	Content           []Content      `json:"content"`
	StructuredContent jsontext.Value `json:"structuredContent"` // as it was sent
	IsError           bool           `json:"isError"`           // the tool's own failure
	// InputRequests is what the tool asks back instead of answering.
	InputRequests map[string]jsontext.Value `json:"inputRequests"`
}

// Kinds of a Content.
const (
	KindText     = "text"          // Text
	KindImage    = "image"         // Data, MIMEType
	KindAudio    = "audio"         // Data, MIMEType
	KindLink     = "resource_link" // URI, Name
	KindResource = "resource"      // Resource
)

// Content is one part of a result. Of a kind that is not among the constants nothing
// but the kind is kept.
type Content struct {
	Kind     string    `json:"type"`
	Text     string    `json:"text"`
	Data     string    `json:"data"` // base64, unchecked
	MIMEType string    `json:"mimeType"`
	URI      string    `json:"uri"`
	Name     string    `json:"name"`
	Resource *Resource `json:"resource"`
}

// Resource is the contents of one: a Blob, or else a Text.
type Resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType"`
	Text     string  `json:"text"`
	Blob     *string `json:"blob"` // base64, unchecked
}

// UnmarshalJSONFrom reads a part; members of a part of an unknown kind may be anything.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*c = Content{}
	var head struct {
		Kind jsontext.Value `json:"type"`
	}
	if err := unmarshal(raw, &head); err != nil {
		return err
	}
	if head.Kind.Kind() != jsontext.KindString {
		return nil
	}
	switch kind := unquote(head.Kind); kind {
	case KindText, KindImage, KindAudio, KindLink, KindResource:
		type plain Content
		return unmarshal(raw, (*plain)(c))
	default:
		c.Kind = kind
		return nil
	}
}
