package execve

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestEnvironmentRules(t *testing.T) {
	t.Parallel()
	host := []string{"A=1", "B=2", "broken", "=C:", "A=3"}
	for _, c := range []struct {
		host, explicit, want []string
	}{
		{host, nil, []string{"A=3", "B=2"}},
		{host, []string{"B=", "C=x=y", "B=9"}, []string{"A=3", "B=9", "C=x=y"}},
		{nil, []string{"K="}, []string{"K="}},
		{nil, nil, []string{}},
	} {
		got, err := MergeEnvironment(c.host, c.explicit)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q + %q: got %q, %v", c.host, c.explicit, got, err)
		}
	}
	for _, bad := range []string{"", "novalue", "=x", "A=\x00"} {
		if _, err := MergeEnvironment(nil, []string{"OK=1", bad}); !errors.Is(err, ErrMalformedEntry) {
			t.Errorf("%q: %v", bad, err)
		} else if !strings.Contains(err.Error(), "entry 1") {
			t.Errorf("%q: the message does not name the index: %v", bad, err)
		}
	}
}
