void null_call(double *out) { (void)out; }
