package wiretest
