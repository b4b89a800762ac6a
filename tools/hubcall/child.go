package hubcall

import (
	"simplex/state"
	"simplex/tools/result"
)

// Limits of what comes back.
const (
	maxDiagnostics = 512
	maxState       = 64
	maxObserved    = 128
	maxChildren    = 1000
)

// literal is a string or null, as it is shown.
type literal struct {
	text string
	set  bool
}

func (l literal) show(r *result.Record, name string) {
	if !l.set {
		r.Literal(name, "null")
		return
	}
	r.String(name, l.text)
}

// status is what every answer tells of a child.
type status struct {
	id, parent, lifecycle, policy, health string
	process                               string
	connected                             bool
	active                                state.Value // true, false, null
	run, observed, reason, err            literal
	approvals                             uint64
}

func readStatus(o object) status {
	s := status{
		id:        o.subagentID(),
		parent:    o.id("parent"),
		lifecycle: o.word("lifecycle", "preparing", "starting", "ready", "stopping", "stopped", "cleanup-pending"),
		policy:    o.word("policy", "ask", "deny", "approve"),
		health:    o.word("health", "healthy", "degraded", "unknown"),
		process:   o.text("process_state", maxState),
		connected: o.boolean("connected"),
		run:       o.literal("run_id", 128, false),
		approvals: o.count("pending_approvals"),
		observed:  o.literal("observed_at", maxObserved, false),
		reason:    o.literal("reason", maxDiagnostics, true),
		err:       o.literal("error", maxDiagnostics, true),
	}
	s.active = state.NullValue()
	if o.has("active") {
		s.active = state.BoolValue(o.boolean("active"))
	}
	return s
}

func (o object) literal(name string, most int, cut bool) literal {
	if _, there := o.members[name]; !there {
		return literal{} // as good as null
	}
	s, ok := o.nullable(name, most, cut)
	return literal{s, ok}
}

func (s status) show(r *result.Record) {
	r.String("subagent_id", s.id)
	r.String("parent", s.parent)
	r.String("lifecycle", s.lifecycle)
	r.String("policy", s.policy)
	r.String("health", s.health)
	r.String("process_state", s.process)
	r.Bool("connected", s.connected)
	r.Literal("active", s.active.String())
	s.run.show(r, "run_id")
	r.Uint("pending_approvals", s.approvals)
	s.observed.show(r, "observed_at")
	s.reason.show(r, "reason")
	s.err.show(r, "error")
}

// list shows all children.
func (p *page) list(reply object) {
	children := reply.objects("subagents", maxChildren)
	p.record(func(r *result.Record) { r.Int("subagents", int64(len(children))) })
	for _, c := range children {
		s := readStatus(c)
		p.record(s.show)
	}
}

// child shows one child with its requests and its conversation.
func (p *page) child(reply object, q *query) {
	s := readStatus(reply)
	if s.id != q.id {
		reply.fail("subagent_id", "is another one")
	}
	lost := reply.boolean("requests_truncated")
	var talk *conversation
	if reply.has("conversation") {
		talk = readConversation(reply.object("conversation"), q)
	}
	p.record(func(r *result.Record) {
		s.show(r)
		r.Bool("requests_truncated", lost)
		r.Bool("conversation_available", talk != nil)
		if talk != nil {
			talk.show(r)
		}
		r.Bool("output_truncated", p.anyCut())
	})
	for _, one := range reply.objects("requests", maxRequests) {
		p.request(one)
	}
	if talk != nil {
		p.turns(talk)
	}
}
