package llm

// maxUsage is far beyond what any exchange can cost; sums of it over a session's life
// stay below what a counter holds.
const maxUsage = 1 << 40

// SaneUsage tells whether a server's token counts can be believed: not both zero, neither
// negative nor absurd. Others are as good as none.
func SaneUsage(prompt, generated int64) bool {
	return prompt >= 0 && generated >= 0 && prompt <= maxUsage && generated <= maxUsage && prompt+generated > 0
}
