// relu: malformed: no function `solve`
