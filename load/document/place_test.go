package document

import (
	"os"
	"strings"
	"testing"
)

// TestFaultOfTheSystem shows a fault whose cause is one of the system's, at an escaped path.
func TestFaultOfTheSystem(t *testing.T) {
	t.Parallel()
	if got := (&Tree{Root: &Node{Kind: KindMapping}}).Fault("/a~1b", os.ErrExist); !strings.HasSuffix(got.Error(), "/a~1b: file already exists") {
		t.Error(got)
	}
}
