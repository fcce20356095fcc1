print("filecoord")
