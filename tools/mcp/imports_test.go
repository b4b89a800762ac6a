package mcp_test

import (
	"os/exec"
	"strings"
	"testing"
)

// What is linked is initialised by every process, also by one that never starts a
// server. So the SDK is for tests only.
func TestSDKIsNotLinked(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "simplex/tools/mcp/client\n") {
		t.Fatalf("the list is %q", out)
	}
	for _, heavy := range []string{"github.com/modelcontextprotocol/", "encoding/gob"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("%s is linked", heavy)
		}
	}
}
