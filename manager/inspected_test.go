package manager

import (
	"encoding/json/v2"

	"simplex/manager/record"
)

// answered is what the model looks at in the answer of inspect.
type answered struct {
	Status    record.Status `json:"status"`
	Revision  uint64        `json:"revision"`
	Overrides struct {
		Client string `json:"client_endpoint"`
	} `json:"overrides"`
	Startup struct {
		Revision uint64 `json:"revision"`
	} `json:"startup"`
}

func inspected(t interface{ Fatal(...any) }, raw []byte) (out answered) {
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
