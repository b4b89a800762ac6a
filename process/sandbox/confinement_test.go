package sandbox

import "testing"

func TestConfineMainReturnsForOthers(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"simplex"}, {"simplex", "run"}, {"simplex", confineCommand}, {"simplex", "run", confineCommand}} {
		ConfineMain(args)
	}
}

func FuzzTarget(f *testing.F) {
	f.Add("/bin/sh\x002\x00sh\x00-c\x00A=b\x00")
	f.Add("/bin/sh\x00-1\x00")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decodeTarget(text)
		if err != nil {
			return
		}
		again, err := got.encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeTarget(again)
		if err != nil || back.Path != got.Path || len(back.Argv) != len(got.Argv) || len(back.Env) != len(got.Env) {
			t.Fatalf("%q: %+v, then %+v, %v", text, got, back, err)
		}
	})
}
