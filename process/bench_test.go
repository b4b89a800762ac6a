package process

import (
	"context"
	"io"
	"os/exec"
	"testing"
)

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)

// Start, wait, read and release, against the barest os/exec that captures.
func BenchmarkStartAndWait(b *testing.B) {
	b.Run("store", func(b *testing.B) {
		store := newStore(b, Config{})
		for b.Loop() {
			s, err := store.Spawn(context.Background(), sh(":"))
			if err != nil {
				b.Fatal(err)
			}
			<-s.Complete()
			s.Read("", true)
			if err := store.Release(s.ID()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("store with reaper", func(b *testing.B) {
		store := newStore(b, Config{Reaper: enableReaper(b)})
		for b.Loop() {
			s, err := store.Spawn(context.Background(), sh(":"))
			if err != nil {
				b.Fatal(err)
			}
			<-s.Complete()
			if err := store.Release(s.ID()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec with pipes", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/sh", "-c", ":")
			cmd.Stdout, cmd.Stderr = &counter{}, &counter{}
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/sh", "-c", ":").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

const floodBytes = 64 << 20

func BenchmarkDrain(b *testing.B) {
	const script = "head -c 67108864 /dev/zero"
	b.Run("store", func(b *testing.B) {
		store := newStore(b, Config{})
		b.SetBytes(floodBytes)
		for b.Loop() {
			s := run(b, store, sh(script))
			if err := store.Release(s.ID()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec", func(b *testing.B) {
		b.SetBytes(floodBytes)
		for b.Loop() {
			cmd := exec.Command("/bin/sh", "-c", script)
			out := &counter{}
			cmd.Stdout, cmd.Stderr = out, &counter{}
			if err := cmd.Run(); err != nil || out.n != floodBytes {
				b.Fatal(err, out.n)
			}
		}
	})
}
