package capture

import "testing"

func BenchmarkCapture(b *testing.B) {
	const chunk = 32 << 10
	p := make([]byte, chunk)
	c := New(64<<10, 8<<10, Stdout)
	b.SetBytes(chunk)
	for b.Loop() {
		c.Add(0, p)
	}
}
