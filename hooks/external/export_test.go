package external

// Apply is open for the fuzz test.
var Apply = apply
