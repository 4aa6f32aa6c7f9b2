# relu: malformed: no class

