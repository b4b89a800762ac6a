package hubcall

import (
	"context"
	"strings"
	"time"

	"simplex/intercom"
	"simplex/state"
	"simplex/wire"
)

// caller makes calls.
type caller struct {
	endpoint wire.URL
	timeout  time.Duration
	ids      func() IDs
	newID    func() string
	exchange Exchange
}

// route is a place to call, with what a failure there means.
type route struct {
	path string
	// mutates: a call that got no answer may have had its effect.
	mutates bool
	// lookup says how to find out.
	lookup string
	// quotes: the Hub's own message may be shown.
	quotes bool
}

// The routes of the tools.
func planRead() route { return route{path: wire.RoutePlanRead, quotes: true} }

func planReplace() route {
	return route{path: wire.RoutePlanReplace, mutates: true, lookup: "read the plan before you write it again", quotes: true}
}

func subagentFork() route {
	return route{path: wire.RouteSubagentFork, mutates: true, lookup: "look for it with subagent_receive before you try again"}
}

func subagentSend() route {
	return route{path: wire.RouteSubagentSend, mutates: true, lookup: "look at the subagent with subagent_receive before you try again"}
}
func subagentReceive() route { return route{path: wire.RouteSubagentReceive} }

// call makes one call, once, and gives its result. It is not cut short where the run is
// cancelled: what was sent has its effect, and its answer is to be known.
func (c *caller) call(ctx context.Context, r route, arguments state.Object) (state.Object, error) {
	who := c.ids()
	ids := wire.ToolIDs{WorkerID: who.WorkerID, SessionID: who.SessionID, RunID: who.RunID, RequestID: c.newID()}
	request, err := wire.EncodeToolRequest(wire.ToolRequest{ToolIDs: ids, Arguments: arguments})
	if err != nil {
		return state.Object{}, r.unsent(err)
	}
	raw, err := c.exchange(context.WithoutCancel(ctx), intercom.ExchangeConfig{
		URL: c.endpoint.WithRoute(r.path), Timeout: c.timeout, MaxReply: wire.MaxToolReply,
	}, request)
	if err != nil {
		return state.Object{}, r.unanswered(err)
	}
	reply, err := wire.DecodeToolResponse(raw, ids, r.path)
	if err != nil {
		return state.Object{}, r.unusable(err)
	}
	if why := reply.Rejected; why != nil {
		if c.betrays(why.Message) {
			why.Message = ""
		}
		return state.Object{}, r.rejected(*why)
	}
	return reply.Result, nil
}

// betrays tells whether a message quotes the endpoint or the token in its query.
func (c *caller) betrays(message string) bool {
	if strings.Contains(message, c.endpoint.Authority()) {
		return true
	}
	_, query, _ := strings.Cut(c.endpoint.Target, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if _, value, ok := strings.Cut(pair, "="); ok && len(value) > 3 && strings.Contains(message, value) {
			return true
		}
	}
	return false
}
