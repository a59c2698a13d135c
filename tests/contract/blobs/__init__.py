"""One contract for the artifact store on a folder and on a bucket."""
