package postgres

// UnwrappedReadOnly is what OpenReadOnly hands out only the reading half of.
var UnwrappedReadOnly = openReadOnly
