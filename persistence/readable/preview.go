package readable

import (
	"strconv"

	"simplex/internal/text"
	"simplex/state"
)

// preview is one JSON value laid out over lines under the limits. It keeps no more than
// the block limit and counts what comes beyond it.
type preview struct {
	limits Limits
	kept   []byte
	lost   int
}

// previewOf gives the lines of a value, without a newline at the end, and how many bytes
// of it did not fit.
func previewOf(v state.Value, limits Limits) (lines []byte, lost int) {
	p := preview{limits: limits}
	p.value(v, 1)
	if p.lost == 0 {
		return p.kept, 0
	}
	whole, held := text.SplitTail(p.kept) // the cut may have split a character
	return whole, p.lost + len(held)
}

// put takes one piece of text over, as far as the block has room.
func (p *preview) put(s string) {
	room := min(len(s), p.limits.Block-len(p.kept))
	p.kept = append(p.kept, s[:room]...)
	p.lost += len(s) - room
}

func (p *preview) line(depth int) {
	p.put("\n")
	for range depth {
		p.put("  ")
	}
}

func (p *preview) value(v state.Value, depth int) {
	switch v.Kind() {
	case '{':
		object, _ := v.Object()
		p.object(object, depth)
	case '[':
		items, _ := v.Items()
		p.array(items, depth)
	case '"':
		s, _ := v.Text()
		p.quoted(s)
	default:
		p.put(v.String())
	}
}

// quoted writes a string or key of at most the limit, with a marker for the rest.
func (p *preview) quoted(s string) {
	shown := text.Prefix(s, p.limits.String)
	if len(shown) < len(s) {
		shown += "... [" + strconv.Itoa(len(s)-len(shown)) + " bytes omitted]"
	}
	p.put(state.StringValue(shown).String())
}

func (p *preview) array(items []state.Value, depth int) {
	if len(items) == 0 {
		p.put("[]")
		return
	}
	p.put("[")
	if depth > p.limits.Depth {
		p.tooDeep(len(items))
	} else {
		for i, item := range items[:min(len(items), p.limits.Items)] {
			p.next(i, depth)
			p.value(item, depth+1)
		}
		p.rest(len(items), depth)
	}
	p.put("]")
}

func (p *preview) object(o state.Object, depth int) {
	count := o.Len()
	if count == 0 {
		p.put("{}")
		return
	}
	p.put("{")
	if depth > p.limits.Depth {
		p.tooDeep(count)
	} else {
		p.members(o, depth)
		p.rest(count, depth)
	}
	p.put("}")
}

func (p *preview) members(o state.Object, depth int) {
	i := 0
	for name, v := range o.All() {
		if i == p.limits.Items {
			return
		}
		p.next(i, depth)
		p.quoted(name)
		p.put(": ")
		p.value(v, depth+1)
		i++
	}
}

func (p *preview) next(i, depth int) {
	if i > 0 {
		p.put(",")
	}
	p.line(depth)
}

func (p *preview) tooDeep(count int) {
	p.put("[omitted: depth limit, " + strconv.Itoa(count) + " entries]")
}

// rest ends a container and tells how many entries were left out.
func (p *preview) rest(count, depth int) {
	if count > p.limits.Items {
		p.line(depth)
		p.put("... [" + strconv.Itoa(count-p.limits.Items) + " entries omitted]")
	}
	p.line(depth - 1)
}
