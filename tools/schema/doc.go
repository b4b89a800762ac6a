// Package schema holds argument schemas of tools against the closed vocabulary of
// contract tools.md §1.4.
//
// It owns which clauses there are, where each may stand, and that defaults and enums
// satisfy the clauses beside them. It refuses every keyword it does not know. It does
// not check calls: that is the code of each tool, and a test of each set shows that
// code and schema agree.
package schema
